import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CardBatch,
  cardRequest,
  openCardBatch,
  transactionOf,
  USD,
} from '#test/support/card_batch.ts'

/** An open authorization of 10 USD on a card with 100 USD. */
async function openAuthorized(money = {}, fields = {}) {
  const batch = await openCardBatch(money, fields)
  const authorization = transactionOf(batch.send('authorize'))
  return { batch, authorization }
}

const captureOf = (batch: CardBatch, id: string | null, usd: bigint, is_final = false) =>
  batch.send('capture', { usd, is_final, reference: { transaction_id: id } })

test('a capture takes the hold and closes the authorization', async () => {
  const { batch, authorization } = await openAuthorized()
  const { verdict, transaction } = captureOf(batch, authorization.id, 10n * USD)
  assert.deepEqual([verdict, transaction?.status], ['noted', 'settled'])
  assert.deepEqual(
    [authorization.status, authorization.captured_micros, authorization.open_micros],
    ['captured', 10n * USD, 0n],
  )
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 0, owed: 0 })
  assert.deepEqual(batch.eventTypes(), ['transaction.authorized', 'transaction.captured'])
})

test('a partial capture keeps the rest held; the final one releases it and its usage', async () => {
  const { batch, authorization } = await openAuthorized()
  captureOf(batch, authorization.id, 4n * USD)
  assert.deepEqual(
    [authorization.status, authorization.held_micros],
    ['partially_captured', 6n * USD],
  )
  captureOf(batch, authorization.id, 1n * USD, true)
  assert.deepEqual([authorization.status, authorization.held_micros], ['captured', 0n])
  assert.deepEqual(batch.balances(), { card: 95, held: 0, treasury: 0, owed: 0 })
  assert.equal(batch.card.spent.daily, 5n * USD)
})

test('a capture of zero settles nothing: the rest stays held, a final one gives it back', async () => {
  const { batch, authorization } = await openAuthorized()
  const capture = transactionOf(captureOf(batch, authorization.id, 0n))
  assert.deepEqual([capture.status, capture.captured_micros], ['settled', 0n])
  const { status, settled_at, held_micros } = authorization
  assert.deepEqual([status, settled_at, held_micros], ['pending', null, 10n * USD])
  assert.deepEqual(batch.balances(), { card: 90, held: 10, treasury: 0, owed: 0 })
  captureOf(batch, authorization.id, 0n, true)
  assert.deepEqual([authorization.status, authorization.settled_at], ['reversed', null])
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
  assert.equal(batch.card.spent.daily, 0n)
})

test('a capture of zero after others closes the purchase, and changes none that is closed', async () => {
  const open = await openAuthorized()
  captureOf(open.batch, open.authorization.id, 4n * USD)
  captureOf(open.batch, open.authorization.id, 0n)
  assert.equal(open.authorization.status, 'partially_captured')
  captureOf(open.batch, open.authorization.id, 0n, true)
  assert.deepEqual([open.authorization.status, open.batch.balances().held], ['captured', 0])
  const { batch, authorization } = await openAuthorized()
  batch.send('expire', { is_early: true, reference: { transaction_id: authorization.id } })
  captureOf(batch, authorization.id, 0n, true)
  assert.equal(authorization.status, 'expired')
})

test('a capture above the hold debits the card, then becomes a debt, and counts as usage', async () => {
  const { batch, authorization } = await openAuthorized({ card: 12n * USD })
  captureOf(batch, authorization.id, 15n * USD)
  assert.equal(authorization.captured_micros, 15n * USD)
  assert.deepEqual(batch.balances(), { card: 0, held: 0, treasury: 0, owed: 3 })
  assert.equal(batch.card.spent.daily, 15n * USD)
  assert(batch.eventTypes().includes('balance.debt_incurred'))
})

test('a capture is never refused: without an authorization, on a frozen or cancelled card', async () => {
  for (const status of ['active', 'frozen', 'cancelled'] as const) {
    const batch = await openCardBatch({}, { status })
    const { transaction } = captureOf(batch, null, 30n * USD)
    assert.deepEqual([transaction?.is_forced, transaction?.authorization_id], [true, null])
    assert.deepEqual(batch.balances(), { card: 70, held: 0, treasury: 0, owed: 0 })
  }
})

test('an unknown card is noted and nothing is recorded', async () => {
  const batch = await openCardBatch()
  const { verdict } = batch.send('capture', { pan_hash: 'another' })
  assert.deepEqual([verdict, batch.state.made], ['noted', []])
})

test('a capture without a USD amount uses the rate of its purchase, or awaits conversion', async () => {
  const batch = await openCardBatch()
  const yen = { minor: 1_500n, currency: 'JPY', micros: 10n * USD, fx_rate: '0.0066' }
  const authorization = transactionOf(batch.send('authorize', { charge: yen }))
  const charge = { ...yen, minor: 750n, micros: null }
  const known = batch.send('capture', {
    charge,
    reference: { transaction_id: authorization.id },
  })
  assert.equal(transactionOf(known).amount_micros, 5n * USD)
  const unknown = batch.send('capture', { charge })
  assert.deepEqual([unknown.verdict, unknown.transaction], ['noted', null])
  assert.deepEqual(
    batch.state.pending_clearings.map(({ waits_for }) => waits_for),
    ['conversion'],
  )
})

test('a capture of a released hold debits the card', async () => {
  const { batch, authorization } = await openAuthorized()
  batch.send('expire', { is_early: true, reference: { transaction_id: authorization.id } })
  assert.deepEqual([authorization.status, batch.balances().held], ['expired', 0])
  captureOf(batch, authorization.id, 10n * USD)
  assert.equal(authorization.status, 'captured')
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 0, owed: 0 })
})

test('sentences about a clearing without a merchant say so', async () => {
  const batch = await openCardBatch({ card: USD })
  const merchant = { ...cardRequest(batch.card, 'capture').merchant, merchant_name: '' }
  batch.send('capture', { merchant, usd: 3n * USD })
  const messages = batch.state.events.map(({ event }) => event.message)
  assert.match(messages[0] ?? '', /A charge of [$]3.00 at an unknown merchant was more than/)
  assert.equal(messages[1], 'Charged: $3.00 at an unknown merchant.')
})
