import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CardBatch, openCardBatch, transactionOf, USD } from '#test/support/card_batch.ts'

async function openAuthorized(fields = {}) {
  const batch = await openCardBatch({}, fields)
  const authorization = transactionOf(batch.send('authorize'))
  return { batch, authorization, reference: { transaction_id: authorization.id } }
}

const reverse = (batch: CardBatch, id: string, replacement_minor: bigint | null = null) =>
  batch.send('reverse', { replacement_minor, reference: { transaction_id: id } })

test('a reversal releases the whole hold and its usage; a repeat changes nothing', async () => {
  const { batch, authorization } = await openAuthorized()
  assert.equal(reverse(batch, authorization.id).verdict, 'noted')
  const { version } = authorization
  assert.equal(reverse(batch, authorization.id).verdict, 'noted')
  assert.deepEqual([authorization.status, authorization.version], ['reversed', version])
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
  assert.equal(batch.card.spent.daily, 0n)
  assert.deepEqual(batch.eventTypes(), ['transaction.authorized', 'transaction.reversed'])
})

test('a partial reversal lowers the hold to the new amount and never raises it', async () => {
  const { batch, authorization } = await openAuthorized()
  reverse(batch, authorization.id, 400n)
  assert.deepEqual([authorization.status, authorization.held_micros], ['pending', 4n * USD])
  reverse(batch, authorization.id, 900n)
  assert.equal(authorization.held_micros, 4n * USD)
  assert.deepEqual(batch.balances(), { card: 96, held: 4, treasury: 0, owed: 0 })
})

test('events of a released part name that part, and not the whole purchase', async () => {
  const batch = await openCardBatch()
  const charge = { minor: 1_000n, currency: 'EUR', micros: 11n * USD, fx_rate: '1.1' }
  const { id } = transactionOf(batch.send('authorize', { charge }))
  const reference = { transaction_id: id }
  batch.send('reverse', { charge, replacement_minor: 800n, reference })
  batch.send('capture', { usd: 33n * 100_000n, reference })
  batch.send('expire', { is_early: true, reference })
  const events = batch.state.events.map(({ event }) => [event.message, event.amount_micros])
  assert.deepEqual(
    events.filter(([message]) => !/Approved|Charged/.test(String(message))),
    [
      ['Canceled by the merchant: 2.00 EUR at Shop.', 22n * 100_000n],
      ['Hold released: 5.00 EUR at Shop was never charged.', 55n * 100_000n],
    ],
  )
})

test('activity groups the thousands of an amount, in every currency', async () => {
  const batch = await openCardBatch()
  batch.send('authorize', { usd: 12_345n * 100_000n })
  batch.send('authorize', {
    charge: { minor: 1_500n, currency: 'JPY', micros: 10n * USD, fx_rate: '0.0067' },
  })
  assert.deepEqual(
    batch.state.events.map(({ event }) => event.message),
    ['Declined: $1,234.50 at Shop (over the per-purchase limit).', 'Approved: 1,500 JPY at Shop.'],
  )
})

test('a captured part is subtracted from the new amount and is not reversed', async () => {
  const { batch, authorization, reference } = await openAuthorized()
  batch.send('capture', { usd: 3n * USD, reference })
  reverse(batch, authorization.id, 500n)
  assert.equal(authorization.held_micros, 2n * USD)
  reverse(batch, authorization.id)
  assert.equal(authorization.status, 'partially_captured')
  assert.deepEqual(batch.balances(), { card: 97, held: 0, treasury: 0, owed: 0 })
})

test('a fully captured purchase answers no_action and moves nothing', async () => {
  const { batch, authorization, reference } = await openAuthorized()
  batch.send('capture', { reference })
  assert.equal(reverse(batch, authorization.id).verdict, 'no_action')
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 0, owed: 0 })
})

test('the hold of a cancelled card returns to the treasury', async () => {
  const { batch, authorization } = await openAuthorized()
  batch.card.status = 'cancelled'
  reverse(batch, authorization.id)
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 10, owed: 0 })
})

test('the hold of a frozen card returns to that card', async () => {
  const { batch, authorization } = await openAuthorized()
  batch.card.status = 'frozen'
  reverse(batch, authorization.id)
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
})

test('a reversal that arrives first declines its message when that arrives', async () => {
  const batch = await openCardBatch()
  const early = batch.send('reverse', { reference: { original_identity: 'the first' } })
  assert.equal(early.verdict, 'original_unknown')
  assert.deepEqual([...batch.state.new_early_reversals], ['the first'])
  const declined = batch.send('authorize', { identity: 'the first' })
  assert.equal(declined.decline_code, 'reversed_before_auth')
})

test('reversing a debit refunds it, in part or in full, once', async () => {
  const batch = await openCardBatch()
  const debit = transactionOf(batch.send('debit'))
  reverse(batch, debit.id, 400n)
  assert.deepEqual([debit.status, batch.balances().card], ['captured', 96])
  const { version } = debit
  reverse(batch, debit.id)
  reverse(batch, debit.id)
  assert.deepEqual([debit.status, batch.balances().card], ['reversed', 100])
  assert.equal(debit.version, version + 1n, 'one message is one change')
  assert.equal(batch.eventTypes().filter((type) => type === 'transaction.refunded').length, 2)
})

test('reversing a debit leaves later captures of the same purchase', async () => {
  const batch = await openCardBatch()
  const debit = transactionOf(batch.send('debit'))
  batch.send('capture', { usd: 6n * USD, reference: { transaction_id: debit.id } })
  assert.equal(batch.balances().card, 84)
  reverse(batch, debit.id)
  reverse(batch, debit.id)
  assert.equal(batch.balances().card, 94)
  assert.equal(batch.card.spent.daily, 6n * USD)
})

test('the reversals of a debit never give back more usage than it counted', async () => {
  const batch = await openCardBatch()
  batch.send('capture', { usd: 50n * USD })
  const debit = transactionOf(batch.send('debit'))
  reverse(batch, debit.id, 400n)
  const refund = batch.state.made.find(({ type }) => type === 'refund')
  reverse(batch, refund?.id ?? '')
  assert.equal(batch.balances().card, 40, 'the refund was taken back')
  reverse(batch, debit.id)
  assert.equal(batch.balances().card, 50)
  assert.equal(batch.card.spent.daily, 50n * USD)
})

test('a debit that is reversed in its own batch stores what it counted', async () => {
  const batch = await openCardBatch()
  const debit = transactionOf(batch.send('debit'))
  reverse(batch, debit.id, 400n)
  assert.deepEqual([...batch.state.changed], [[debit, 0n]], 'the insert has no counted columns')
  assert.equal(debit.counted_month_micros, 4n * USD)
})

test('a reversed refund is debited again, once, and can make a debt', async () => {
  const { batch, authorization, reference } = await openAuthorized()
  batch.send('capture', { reference })
  const refund = transactionOf(batch.send('refund', { reference }))
  assert.equal(authorization.refunded_micros, 10n * USD)
  batch.send('capture', { usd: 95n * USD })
  reverse(batch, refund.id)
  reverse(batch, refund.id)
  assert.deepEqual([refund.status, authorization.refunded_micros], ['reversed', 0n])
  assert.deepEqual(batch.balances(), { card: 0, held: 0, treasury: 0, owed: 5 })
})

test('a reversal with the ID of another card finds nothing', async () => {
  const { batch } = await openAuthorized()
  assert.equal(reverse(batch, 'txn_of_another_card').verdict, 'original_unknown')
  assert.deepEqual(batch.balances(), { card: 90, held: 10, treasury: 0, owed: 0 })
})

test('a reversal that overtakes a second attempt declines it, although a first one has its number', async () => {
  const batch = await openCardBatch()
  const reference = { retrieval_reference_number: '000000000001' }
  batch.send('authorize', { usd: 200n * USD, reference })
  const original_identity = 'second attempt'
  const early = batch.send('reverse', { reference: { ...reference, original_identity } })
  assert.equal(early.verdict, 'original_unknown')
  const late = batch.send('authorize', { identity: original_identity, reference })
  assert.equal(late.decline_code, 'reversed_before_auth')
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
})

test('the reversal of an advice about a debit finds it in the same batch, too', async () => {
  const batch = await openCardBatch()
  const reference = { retrieval_reference_number: '000000000001' }
  batch.send('debit', { reference })
  batch.send('advise', { identity: 'advice', reference })
  batch.send('reverse', { reference: { ...reference, original_identity: 'advice' } })
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
})

for (const kind of ['refund', 'advise'] as const) {
  test(`a reversal that overtakes its ${kind} leaves nothing of it`, async () => {
    const batch = await openCardBatch()
    batch.send('reverse', { reference: { original_identity: 'overtaken' } })
    assert.equal(batch.send(kind, { identity: 'overtaken' }).verdict, 'noted')
    assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
    assert.deepEqual(batch.state.made, [])
  })
}

test('a capture is booked although its reversal came first, as in the other order', async () => {
  const batch = await openCardBatch()
  batch.send('reverse', { reference: { original_identity: 'overtaken' } })
  batch.send('capture', { identity: 'overtaken' })
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 0, owed: 0 })
})
