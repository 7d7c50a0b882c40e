import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { SandboxDrawer } from './sandbox_drawer.tsx'

const topup = row('list_topups', { amount_usd: 100, status: 'awaiting' })
const card = row('list_cards', { name: 'Travel', status: 'active' })
const purchase = row('list_transactions', { type: 'authorization', amount_usd: 12.5 })
const answers: Answers = {
  list_topups: pageOf([topup]),
  list_cards: pageOf([card]),
  list_transactions: pageOf([purchase]),
}
const DEPOSIT = `POST /sandbox/v1/topups/${topup.id}/deposit` as const
const BUY = `POST /sandbox/v1/cards/${card.id}/authorize` as const
const props = { open: true, onOpenChange: () => {} }

test('a deposit sends the amount of the top-up unless another is entered', async (t) => {
  const service = serve(t, { ...answers, [DEPOSIT]: topup })
  const page = await open(t, SandboxDrawer, props)
  await page.click('button', 'Send deposit')
  await page.fill('Amount to send', '40')
  await page.click('button', 'Send deposit')
  assert.deepEqual(service.sent(DEPOSIT), [{ amount_usd: 100 }, { amount_usd: 40 }])
})

test('an amount with a decimal comma is neither sent nor replaced by another', async (t) => {
  const service = serve(t, { ...answers, [DEPOSIT]: topup, [BUY]: purchase })
  const page = await open(t, SandboxDrawer, props)
  await page.fill('Amount to send', '40,00')
  await page.click('button', 'Send deposit')
  await page.fill('Amount', '12,50')
  await page.click('button', 'Make purchase')
  assert.deepEqual([service.sent(DEPOSIT), service.sent(BUY)], [[], []])
})

test('a purchase is made with the chosen merchant, and a decline gives its reason', async (t) => {
  const declined = { ...purchase, type: 'decline', decline_message: 'The card is frozen.' }
  const service = serve(t, { ...answers, [BUY]: declined })
  const page = await open(t, SandboxDrawer, props)
  await page.fill('Merchant', '7995')
  await page.fill('Amount', '20')
  await page.fill('Country', 'de')
  await page.click('button', 'Make purchase')
  const sent = { amount: 20, merchant_name: 'Lucky Casino', mcc: '7995', merchant_country: 'DE' }
  assert.deepEqual(service.sent(BUY), [sent])
  assert.deepEqual(page.toasts(), ['Declined: The card is frozen.'])
})

test('a refused simulation says why beside its button', async (t) => {
  serve(t, { ...answers, [BUY]: refuse('invalid_amount', 'Enter an amount above zero.') })
  const page = await open(t, SandboxDrawer, props)
  await page.click('button', 'Make purchase')
  assert.equal(page.get('alert').textContent, 'Enter an amount above zero.')
})

test('a purchase is captured or refunded, and the clock advanced', async (t) => {
  const base = `POST /sandbox/v1/transactions/${purchase.id}` as const
  const service = serve(t, {
    ...answers,
    [`${base}/capture`]: purchase,
    [`${base}/refund`]: purchase,
    'POST /sandbox/v1/clock/advance': { now: new Date().toISOString() },
  } as Answers)
  const page = await open(t, SandboxDrawer, props)
  await page.click('button', 'Capture')
  await page.click('button', 'Refund')
  await page.fill('By', '86400')
  await page.click('button', 'Advance')
  assert.deepEqual(page.toasts().slice(0, 2), ['$12.50 captured.', '$12.50 refunded.'])
  assert.deepEqual(service.sent('POST /sandbox/v1/clock/advance'), [{ seconds: 86400 }])
})

test('an account without top-ups and cards says what to do first', async (t) => {
  const none = pageOf([])
  serve(t, { list_topups: none, list_cards: none, list_transactions: none })
  const page = await open(t, SandboxDrawer, props)
  assert.match(page.text(), /Create a top-up first.*Issue a card first/)
  assert(!page.has('button', 'Capture'))
})
