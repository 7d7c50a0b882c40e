import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { row, sample } from '#panel/test_support/samples.ts'
import { TicketSheet } from './ticket_sheet.tsx'

const ticket = row('operator_list_tickets')
const onClose = () => {}

test('a reply waits for the customer unless another status is chosen', async (t) => {
  const service = serve(t, { operator_reply_ticket: sample('operator_reply_ticket') })
  const page = await open(t, TicketSheet, { ticket, onClose })
  await page.fill('Reply', ' Try again now. ')
  await page.click('button', 'Send reply')
  await page.fill('Reply', 'Done.')
  await page.fill('Set status to', 'resolved')
  await page.click('button', 'Send reply')
  assert.deepEqual(service.sent('operator_reply_ticket'), [
    { id: ticket.id, message: 'Try again now.', status: 'pending' },
    { id: ticket.id, message: 'Done.', status: 'resolved' },
  ])
  assert.equal(page.valueOf('Reply'), '')
})

test('a refused reply keeps its text', async (t) => {
  serve(t, { operator_reply_ticket: refuse('ticket_closed', 'This ticket is closed.') })
  const page = await open(t, TicketSheet, { ticket, onClose })
  await page.fill('Reply', 'Hello.')
  await page.click('button', 'Send reply')
  assert.match(page.get('alert').textContent ?? '', /closed/)
  assert.equal(page.valueOf('Reply'), 'Hello.')
})

test('the card and the transaction of a ticket are searched within its account', async (t) => {
  const { account_id, card_id, transaction_id } = ticket
  assert(card_id !== null && transaction_id !== null)
  const page = await open(t, TicketSheet, { ticket, onClose })
  const href = (name: string) => page.get('link', name).getAttribute('href')
  assert.equal(href('View card'), `/cards?account_id=${account_id}&card_id=${card_id}`)
  const query = `account_id=${account_id}&transaction_id=${transaction_id}`
  assert.equal(href('View transaction'), `/transactions?${query}`)
})
