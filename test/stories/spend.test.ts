import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityEvent } from '#contract/activity.ts'
import { getCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import {
  authorize,
  follow,
  forceCapture,
  getTransaction,
  openSpender,
} from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

test('the card shows each step of a purchase: hold, capture and refund', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const held = await authorize(url, spender, { amount: 25.5, merchant_name: 'Corner Books' })
  assert.equal(held.type, 'authorization')
  assert.equal(held.status, 'pending')
  assert.equal(held.merchant_name, 'Corner Books')
  assert.equal(held.authorization_id, held.id)
  let card = await getCard(url, spender.key, spender.card.id)
  assert.deepEqual([card.balance_usd, card.held_usd], [74.5, 25.5])
  assert.equal(card.limits.spent.daily_usd, 25.5)

  const captured = await follow(url, spender, { id: held.id, verb: 'capture' })
  assert.equal(captured.type, 'capture')
  assert.equal(captured.authorization_id, held.id)
  card = await getCard(url, spender.key, spender.card.id)
  assert.deepEqual([card.balance_usd, card.held_usd], [74.5, 0])
  assert.equal((await getTransaction(url, spender.key, held.id)).status, 'captured')

  const refunded = await follow(url, spender, { id: captured.id, verb: 'refund', amount: 10 })
  assert.deepEqual([refunded.type, refunded.direction], ['refund', 'credit'])
  card = await getCard(url, spender.key, spender.card.id)
  assert.deepEqual([card.balance_usd, card.held_usd], [84.5, 0])
  assert.equal((await getTransaction(url, spender.key, captured.id)).refunded_usd, 10)
  assert.equal(card.limits.spent.daily_usd, 25.5)
  await assertBooksSound(runtime.db)
})

test('a reversal releases part or all of a hold', async () => {
  const spender = await openSpender(service, { usd: 50 })
  const held = await authorize(url, spender, { amount: 30 })
  const part = await follow(url, spender, { id: held.id, verb: 'reverse', amount: 10 })
  assert.deepEqual([part.status, part.held_usd], ['pending', 20])
  const all = await follow(url, spender, { id: held.id, verb: 'reverse' })
  assert.deepEqual([all.status, all.held_usd], ['reversed', 0])
  const card = await getCard(url, spender.key, spender.card.id)
  assert.deepEqual([card.balance_usd, card.held_usd], [50, 0])
  assert.equal(card.limits.spent.daily_usd, 0)
  await assertBooksSound(runtime.db)
})

test('a capture without an amount takes the hold that a partial reversal left', async () => {
  const spender = await openSpender(service, { usd: 50 })
  const held = await authorize(url, spender, { amount: 30 })
  await follow(url, spender, { id: held.id, verb: 'reverse', amount: 10 })
  const captured = await follow(url, spender, { id: held.id, verb: 'capture' })
  assert.equal(captured.amount_usd, 20)
  const card = await getCard(url, spender.key, spender.card.id)
  assert.deepEqual([card.balance_usd, card.held_usd], [30, 0])
  await assertBooksSound(runtime.db)
})

test('an authorization without a capture expires, and a later capture is still honored', async () => {
  const spender = await openSpender(service, { usd: 50 })
  const held = await authorize(url, spender, { amount: 30 })
  const expired = await follow(url, spender, { id: held.id, verb: 'expire' })
  assert.equal(expired.status, 'expired')
  assert.equal((await getCard(url, spender.key, spender.card.id)).balance_usd, 50)
  await follow(url, spender, { id: held.id, verb: 'capture' })
  assert.equal((await getTransaction(url, spender.key, held.id)).status, 'captured')
  assert.equal((await getCard(url, spender.key, spender.card.id)).balance_usd, 20)
  await assertBooksSound(runtime.db)
})

test('a forced capture above the card balance debits the treasury, then becomes a debt', async () => {
  const spender = await openSpender(service, { usd: 20, treasury_usd: 10 })
  const forced = await forceCapture(url, spender, { amount: 50 })
  assert.deepEqual([forced.type, forced.authorization_id], ['capture', null])
  const balance = await send(url, 'GET', '/v1/balance', { bearer: spender.key })
  assert.equal(balance.body['balance_usd'], 0)
  const declined = await authorize(url, spender, { amount: 1 })
  assert.equal(declined.decline_code, 'insufficient_funds')
  await assertBooksSound(runtime.db)
})

test('a frozen card declines with its reason, and the masked message can be read', async () => {
  const spender = await openSpender(service, { usd: 50 })
  await send(url, 'POST', `/v1/cards/${spender.card.id}/freeze`, { bearer: spender.key })
  const declined = await authorize(url, spender, { amount: 60, cvv: '000' })
  assert.equal(declined.type, 'decline')
  assert.equal(declined.decline_code, 'card_frozen')
  assert.deepEqual(declined.failed_rules, ['card_frozen', 'cvv_mismatch', 'insufficient_funds'])
  const details = await send(url, 'GET', `/v1/transactions/${declined.id}/auth`, {
    bearer: spender.key,
  })
  assert.equal(details.status, 200, details.text)
  assert.match(String(details.body['fields']['2']), /^400000\*{6}\d{4}$/)
  assert.equal(details.body['response_code'], '9G')
  assert.equal(details.body['fields']['39'], '9G')
  assert.equal(details.body['response_mti'], '0110')
  await assertBooksSound(runtime.db)
})

test("another currency is charged in dollars at the network's rate", async () => {
  const spender = await openSpender(service, { usd: 100, bin: '555555' })
  const held = await authorize(url, spender, {
    amount: 20,
    currency: 'EUR',
    merchant_country: 'DE',
  })
  assert.deepEqual(
    [held.amount, held.currency, held.amount_usd, held.fx_rate, held.network],
    [20, 'EUR', 21.7, '1.085', 'mastercard'],
  )
  const captured = await follow(url, spender, { id: held.id, verb: 'capture', amount: 10 })
  assert.equal(captured.amount_usd, 10.85)
  assert.equal((await getTransaction(url, spender.key, held.id)).status, 'partially_captured')
  await assertBooksSound(runtime.db)
})

test('a decline is in the activity stream as an error and as spending', async () => {
  const spender = await openSpender(service, { usd: 5 })
  const declined = await authorize(url, spender, { amount: 6 })
  for (const type of ['error', 'spend']) {
    const { body } = await send(url, 'GET', `/v1/activity?type=${type}`, { bearer: spender.key })
    const [event] = body['data'] as unknown as ActivityEvent[]
    assert.equal(event?.event, 'transaction.declined')
    assert.deepEqual([event.type, event.severity], ['spend', 'error'])
    assert.deepEqual(event.resource, { type: 'transaction', id: declined.id })
  }
})
