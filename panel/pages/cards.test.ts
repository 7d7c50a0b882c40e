import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { CardPage } from './card.tsx'
import { Cards } from './cards.tsx'

const card = row('list_cards', { name: 'Travel', status: 'active', held_usd: 0 })
const answers: Answers = {
  list_cards: pageOf([card]),
  get_spending: sample('get_spending', { total_usd: 0, data: [] }),
  get_balance: sample('get_balance'),
  get_limits: sample('get_limits'),
  get_account: sample('get_account'),
  list_card_transactions: pageOf([]),
  list_disputes: pageOf([]),
  'GET /oauth/grants': { data: [] },
}

test('cards: canceled ones are left out unless asked for', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Cards, {}, { path: '/cards' })
  assert.deepEqual(service.sent('list_cards')[0], { status: 'active,frozen' })
  await page.fill('Status', 'cancelled')
  assert.deepEqual(service.sent('list_cards').at(-1), { status: 'cancelled' })
})

test('cards: the form opens by its address, and Escape leads back to the list', async (t) => {
  serve(t, answers)
  const page = await open(t, Cards, {}, { path: '/cards' })
  await page.click('button', 'Issue card')
  assert.equal(page.path(), '/cards?issue')
  assert(page.has('dialog', 'Issue card'))
  await page.press('Escape')
  assert.equal(page.path(), '/cards')
})

test('cards: an account without cards is offered one', async (t) => {
  serve(t, { ...answers, list_cards: pageOf([]) })
  const page = await open(t, Cards, {}, { path: '/cards' })
  assert.equal(page.all('button', 'Issue card').length, 2)
})

test('card: money on hold is shown beside the balance, only if there is any', async (t) => {
  const service = serve(t, { ...answers, get_card: { ...card, held_usd: 5 } })
  const page = await open(t, CardPage, { id: card.id })
  assert.match(page.text(), /On hold \$5\.00/)
  service.answer({ get_card: card })
  const without = await open(t, CardPage, { id: card.id })
  assert.doesNotMatch(without.text(), /On hold/)
})

test('card: limits, rules and details are each in a tab', async (t) => {
  const replaced = { ...card, cancel_reason: 'replaced' as const, status: 'cancelled' as const }
  serve(t, { ...answers, get_card: replaced })
  const page = await open(t, CardPage, { id: card.id })
  await page.click('tab', 'Limits and rules')
  assert(page.has('heading', 'Spending limits'))
  await page.click('tab', 'Details')
  assert.match(page.get('tabpanel').textContent ?? '', /Replaced by a new card/)
})

test('card: one that does not exist says so', async (t) => {
  serve(t, { get_card: refuse('not_found', 'No such card.') })
  const page = await open(t, CardPage, { id: card.id })
  assert.match(page.text(), /Card not found/)
})
