import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { OpenTicket } from './open_ticket.tsx'

const card = row('list_cards', { name: 'Travel' })
const list_cards = pageOf([card])
const ticket = sample('open_ticket')

test('a ticket names its topic and, if one is chosen, its card', async (t) => {
  const service = serve(t, { list_cards, open_ticket: ticket })
  const page = await open(t, OpenTicket, { onClose: () => {} })
  await page.fill('Subject', 'Declined')
  await page.fill('Topic', 'dispute')
  await page.fill('Card (optional)', card.id)
  await page.fill('Message', 'Why?')
  await page.click('button', 'Send')
  assert.deepEqual(service.sent('open_ticket'), [
    { subject: 'Declined', category: 'dispute', card_id: card.id, message: 'Why?' },
  ])
  assert.equal(page.path(), `/tickets/${ticket.id}`)
})

test('a refused subject or message is shown at its field', async (t) => {
  const details = { subject: 'is too long', message: 'must have at most 10,000 characters' }
  serve(t, { list_cards, open_ticket: refuse('invalid_request', details) })
  const page = await open(t, OpenTicket, { onClose: () => {} })
  await page.fill('Subject', 'Hello')
  await page.fill('Message', 'Hello')
  await page.click('button', 'Send')
  assert.equal(page.errorOf('Subject'), 'Is too long.')
  assert.equal(page.errorOf('Message'), 'Must have at most 10,000 characters.')
})

test('without an active card, the refusal is shown above the buttons', async (t) => {
  serve(t, { list_cards, open_ticket: refuse('active_card_required', 'You need an active card.') })
  const page = await open(t, OpenTicket, { onClose: () => {} })
  await page.fill('Subject', 'Hello')
  await page.fill('Message', 'Hello')
  await page.click('button', 'Send')
  assert.match(page.get('alert').textContent ?? '', /active card/)
})
