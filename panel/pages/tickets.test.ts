import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { TicketPage } from './ticket.tsx'
import { Tickets } from './tickets.tsx'

const ticket = sample('get_ticket', { status: 'pending', subject: 'Card declined' })
const cards: Answers = { list_cards: pageOf([row('list_cards')]) }

test('tickets, ticket_status: one that waits for the customer says so', async (t) => {
  serve(t, { ...cards, list_tickets: pageOf([ticket]) })
  const page = await open(t, Tickets, {}, { path: '/tickets' })
  assert.match(page.in('table').text(), /Card declined.*Awaiting your reply/)
})

test('tickets: without a card, the page leads to one first', async (t) => {
  serve(t, { list_cards: pageOf([]), list_tickets: pageOf([]) })
  const page = await open(t, Tickets, {}, { path: '/tickets' })
  assert.equal(page.get('link', 'Issue card').getAttribute('href'), '/cards?issue')
})

test('tickets: the form opens by its address and closes back to the list', async (t) => {
  serve(t, { ...cards, list_tickets: pageOf([ticket]) })
  const page = await open(t, Tickets, {}, { path: '/tickets?new' })
  assert(page.has('dialog', 'New ticket'))
  await page.press('Escape')
  assert.equal(page.path(), '/tickets')
  assert(!page.has('dialog'))
})

test('ticket: a reply is sent trimmed, its field cleared, and the answer shown', async (t) => {
  const service = serve(t, { get_ticket: ticket, reply_ticket: sample('reply_ticket') })
  const page = await open(t, TicketPage, { id: ticket.id })
  const button = () => page.get('button', 'Send reply') as HTMLButtonElement
  assert(button().disabled)
  await page.fill('Your reply', '  Thank you. ')
  await page.click('button', 'Send reply')
  assert.deepEqual(service.sent('reply_ticket'), [{ id: ticket.id, body: 'Thank you.' }])
  assert.equal(service.sent('get_ticket').length, 2)
  assert.equal(page.valueOf('Your reply'), '')
})

test('ticket: a refused reply is shown at its field and kept', async (t) => {
  const reply_ticket = refuse('invalid_request', { body: 'must not contain a card number' })
  serve(t, { get_ticket: ticket, reply_ticket })
  const page = await open(t, TicketPage, { id: ticket.id })
  await page.fill('Your reply', '4000 0012 3456 7899')
  await page.click('button', 'Send reply')
  assert.equal(page.errorOf('Your reply'), 'Must not contain a card number.')
  assert.equal(page.valueOf('Your reply'), '4000 0012 3456 7899')
})

test('ticket: a closed one takes no reply and offers a new one', async (t) => {
  serve(t, { get_ticket: { ...ticket, status: 'closed' } })
  const page = await open(t, TicketPage, { id: ticket.id })
  assert(!page.has('textbox'))
  assert(page.has('link', 'Open a new ticket'))
})
