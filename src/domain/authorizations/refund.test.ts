import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '#contract/transactions.ts'
import { openCardBatch, transactionOf, USD } from '#test/support/card_batch.ts'

/** A purchase of 10 USD, captured in two parts of 4 and 6 USD. */
async function openCaptured(fields = {}) {
  const batch = await openCardBatch({}, fields)
  const authorization = transactionOf(batch.send('authorize'))
  const reference = { transaction_id: authorization.id }
  const captures = [4n, 6n].map((usd) =>
    transactionOf(batch.send('capture', { usd: usd * USD, reference })),
  )
  return { batch, authorization, captures, reference }
}

test('a refund credits the card and leaves the usage of limits as it is', async () => {
  const { batch, authorization, reference } = await openCaptured()
  const row = transactionOf(batch.send('refund', { reference }))
  assert.deepEqual(
    [row.type, row.status, row.authorization_id],
    ['refund', 'settled', authorization.id],
  )
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
  assert.equal(batch.card.spent.daily, 10n * USD)
  assert.equal(batch.eventTypes().at(-1), 'transaction.refunded')
})

test('a refund is allocated to captures from the oldest, each up to its amount', async () => {
  const { batch, authorization, captures, reference } = await openCaptured()
  batch.send('refund', { usd: 5n * USD, reference })
  assert.deepEqual(
    captures.map(({ refunded_micros }) => refunded_micros),
    [4n * USD, 1n * USD],
  )
  batch.send('refund', { usd: 20n * USD, reference })
  assert.deepEqual(
    captures.map(({ refunded_micros }) => refunded_micros),
    [4n * USD, 6n * USD],
  )
  assert.equal(authorization.refunded_micros, 25n * USD)
  const shares = batch.state.refunds.new_parts.map(({ amount_micros }) => amount_micros)
  assert.deepEqual(shares, [4n * USD, 1n * USD, 5n * USD])
})

test('a refund that precedes its captures counts on them when they arrive', async () => {
  const batch = await openCardBatch()
  const authorization = transactionOf(batch.send('authorize'))
  const reference = { transaction_id: authorization.id }
  const send = (kind: 'capture' | 'refund', usd: bigint) =>
    transactionOf(batch.send(kind, { usd: usd * USD, reference }))
  const refund = send('refund', 5n)
  const captures = [send('capture', 4n), send('capture', 6n)]
  const counted = () => captures.map(({ refunded_micros }) => refunded_micros)
  assert.deepEqual(counted(), [4n * USD, 1n * USD])
  assert.deepEqual([authorization.refunded_micros, captures[0]?.version], [5n * USD, 1n])
  const shown = batch.state.events.filter(({ event }) => event.type === 'transaction.captured')
  const refunded = shown.map(({ event }) => (event.object as Transaction).refunded_usd)
  assert.deepEqual(refunded, [4, 1], 'each event has the refunded amount')
  const original_identity = refund.message_identity
  batch.send('reverse', { reference: { original_identity } })
  assert.deepEqual(counted(), [0n, 0n], 'its reversal takes each part back')
  send('capture', 1n)
  assert.equal(batch.state.refunds.new_parts.length, 2, 'a reversed refund counts on nothing')
})

test('the capture that the message names is refunded first', async () => {
  const { batch, captures, reference } = await openCaptured()
  const named = captures[1]?.message_identity ?? null
  batch.send('refund', { usd: 6n * USD, reference: { ...reference, original_identity: named } })
  assert.deepEqual(
    captures.map(({ refunded_micros }) => refunded_micros),
    [0n, 6n * USD],
  )
})

test('a refund to a cancelled card returns to the treasury', async () => {
  const { batch, reference } = await openCaptured()
  batch.card.status = 'cancelled'
  batch.send('refund', { reference })
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 10, owed: 0 })
})

test('a refund to a frozen card credits that card', async () => {
  const { batch, reference } = await openCaptured()
  batch.card.status = 'frozen'
  batch.send('refund', { reference })
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
})

test('only the part above the captures counts towards the review amount', async () => {
  const cases: [bigint, bigint, boolean][] = [
    [10n * USD, 0n, false],
    [10n * USD + 1n, 0n, true],
    [15n * USD, 5n * USD, false],
    [15n * USD + 1n, 5n * USD, true],
  ]
  for (const [usd, most, isHeld] of cases) {
    const { batch, reference } = await openCaptured()
    batch.state.refund_review_micros = most
    const { verdict, transaction } = batch.send('refund', { usd, reference })
    assert.deepEqual([verdict, transaction === null], ['noted', isHeld], `${usd} ${most}`)
    assert.equal(batch.state.pending_clearings[0]?.waits_for, isHeld ? 'review' : undefined)
  }
})

test('earlier refunds count: together they never exceed the captures without a review', async () => {
  const { batch, reference } = await openCaptured()
  batch.state.refund_review_micros = 0n
  const refund = (usd: bigint) => batch.send('refund', { usd: usd * USD, reference }).transaction
  assert.ok(refund(7n))
  assert.equal(refund(4n), null)
  assert.ok(refund(3n))
  assert.equal(refund(1n), null)
  assert.equal(batch.balances().card, 100)
})

test('a refund without a purchase is credited, or held if refunds are reviewed', async () => {
  const batch = await openCardBatch()
  assert.equal(batch.send('refund').transaction?.authorization_id, null)
  assert.equal(batch.balances().card, 110)
  batch.state.refund_review_micros = 0n
  assert.equal(batch.send('refund').transaction, null)
  assert.equal(batch.balances().card, 110)
  const approved = batch.send('refund', { settles: 'the held message' })
  assert.equal(approved.transaction?.message_identity, 'the held message')
  assert.equal(batch.balances().card, 120)
})

test('a refund pays the debt of its account first', async () => {
  const batch = await openCardBatch({ card: 0n, owed: 7n * USD })
  batch.send('refund')
  assert.deepEqual(batch.balances(), { card: 3, held: 0, treasury: 0, owed: 0 })
})
