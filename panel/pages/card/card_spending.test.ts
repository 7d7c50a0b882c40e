import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { CardSparkline, CardSpending, PurchaseLimit } from './card_spending.tsx'

const limits = { per_transaction_usd: null, daily_usd: 50, monthly_usd: null }
const card = sample('get_card', { limits: { ...limits, spent: { daily_usd: 45 } } })
const noLimits = { ...card.limits, daily_usd: null }

test('the sum of the last 30 days is asked for this card, up to the current UTC day', async (t) => {
  useTestClock(t, '2026-11-16T23:30:00.000Z')
  const get_spending = sample('get_spending', { total_usd: 61.5 })
  const service = serve(t, { get_spending })
  const page = await open(t, CardSpending, { card })
  assert.match(page.text(), /\$61\.50/)
  assert(page.has('img', 'Spent in the last 30 days: $61.50'))
  const [input] = service.sent('get_spending')
  const asked = { from: '2026-10-18', to: '2026-11-16', group_by: 'day', card_id: card.id }
  assert.deepEqual(input, asked)
  assert.equal(page.get('link').getAttribute('href'), `/spending?card_id=${card.id}`)
})

test('only the limits that a card has are shown, with the part that is used', async (t) => {
  serve(t, { get_spending: sample('get_spending', { total_usd: 0, data: [] }) })
  const page = await open(t, CardSpending, { card })
  assert.deepEqual(page.names('meter'), ['Today'])
  assert.equal(page.get('meter').getAttribute('aria-valuetext'), '$45.00 of $50.00')
  assert(!page.has('img'))
})

test('a card without a limit per day or month shows its limit per purchase, or that it has none', async (t) => {
  const none = { ...card.limits, daily_usd: null }
  const page = await open(t, PurchaseLimit, { card: { ...card, limits: none } })
  assert.match(page.text(), /No limit/)
})

test('spending that is not known is neither $0.00 nor “No spending”', async (t) => {
  const refused = refuse('account_suspended', 'Suspended.')
  for (const is_refused of [false, true]) {
    serve(t, { get_spending: is_refused ? refused : no_response })
    const section = await open(t, CardSpending, { card: { ...card, limits: noLimits } })
    assert.doesNotMatch(section.text(), /\$|No spending/)
    assert.equal(section.has('button', 'Try again'), is_refused)
    const line = await open(t, CardSparkline, { card_id: card.id })
    assert.equal(line.text(), is_refused ? 'Not available' : '')
  }
})
