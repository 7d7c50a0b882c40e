import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCardBatch, transactionOf, USD } from '#test/support/card_batch.ts'

test('a stand-in approval is held even if a rule objects, as far as the balance goes', async () => {
  const batch = await openCardBatch({ card: 6n * USD }, { status: 'frozen' })
  const { verdict, transaction } = batch.send('advise')
  assert.deepEqual(
    [verdict, transaction?.is_stand_in, transaction?.open_micros, transaction?.held_micros],
    ['noted', true, 10n * USD, 6n * USD],
  )
  assert.deepEqual(batch.balances(), { card: 0, held: 6, treasury: 0, owed: 0 })
})

test('the shortfall of a stand-in becomes a debt only at its capture', async () => {
  const batch = await openCardBatch({ card: 6n * USD })
  const row = transactionOf(batch.send('advise'))
  assert.equal(batch.balances().owed, 0)
  batch.send('capture', { reference: { transaction_id: row.id } })
  assert.deepEqual(batch.balances(), { card: 0, held: 0, treasury: 0, owed: 4 })
})

test('a stand-in approval of zero makes no purchase, but sets a merchant lock', async () => {
  const batch = await openCardBatch({}, { usage: 'merchant_locked' })
  const { verdict, transaction } = batch.send('advise', { usd: 0n })
  assert.deepEqual([verdict, transaction, batch.state.made], ['noted', null, []])
  assert.deepEqual(batch.eventTypes(), ['card.merchant_locked'])
  assert.equal(batch.card.merchant_lock_name, 'Shop')
})

test('a final amount raises or lowers the hold of its purchase and its usage', async () => {
  for (const [usd, held] of [
    [25n * USD, 25],
    [4n * USD, 4],
  ] as const) {
    const batch = await openCardBatch()
    const row = transactionOf(batch.send('authorize'))
    batch.send('advise', { usd, reference: { transaction_id: row.id } })
    assert.deepEqual([row.amount_micros, row.status], [usd, 'pending'])
    assert.deepEqual(batch.balances(), { card: 100 - held, held, treasury: 0, owed: 0 })
    assert.equal(batch.card.spent.daily, usd)
    assert.equal(batch.state.made.length, 1)
    assert.deepEqual(batch.eventTypes(), ['transaction.authorized', 'transaction.adjusted'])
  }
})

for (const kind of ['advise', 'increment'] as const) {
  test(`an ${kind} in another currency keeps the currency and rate of the purchase`, async () => {
    const batch = await openCardBatch()
    const charge = { minor: 1_000n, currency: 'EUR', micros: 11n * USD, fx_rate: '1.1' }
    const row = transactionOf(batch.send('authorize', { charge }))
    const reference = { transaction_id: row.id }
    batch.send(kind, { usd: 22n * USD, reference })
    const [minor, usd] = kind === 'advise' ? [2_000n, 22n * USD] : [3_000n, 33n * USD]
    assert.deepEqual([row.currency, row.amount_minor, row.amount_micros], ['EUR', minor, usd])
    const without_usd = { minor: 1_000n, currency: 'EUR', micros: null, fx_rate: null }
    const capture = transactionOf(batch.send('capture', { charge: without_usd, reference }))
    assert.equal(capture.amount_micros, 11n * USD)
  })
}

test('a final amount of zero reverses the purchase; captured parts stay', async () => {
  const batch = await openCardBatch()
  const row = transactionOf(batch.send('authorize'))
  const reference = { transaction_id: row.id }
  batch.send('advise', { usd: 0n, reference })
  assert.deepEqual([row.status, batch.balances().held], ['reversed', 0])

  const captured = transactionOf(batch.send('authorize'))
  batch.send('capture', { usd: 4n * USD, reference: { transaction_id: captured.id } })
  batch.send('advise', { usd: 3n * USD, reference: { transaction_id: captured.id } })
  assert.deepEqual([captured.status, captured.held_micros], ['captured', 0n])
  assert.deepEqual(batch.balances(), { card: 96, held: 0, treasury: 0, owed: 0 })
})

test('a single-message purchase is settled: an advice does not change it', async () => {
  const batch = await openCardBatch()
  const row = transactionOf(batch.send('debit'))
  const { version } = row
  batch.send('advise', { usd: 50n * USD, reference: { transaction_id: row.id } })
  assert.deepEqual([row.version, batch.balances().card], [version, 90])
})

test('a declined advice is recorded and moves nothing', async () => {
  const batch = await openCardBatch()
  const { verdict, transaction } = batch.send('advise_declined')
  assert.deepEqual(
    [verdict, transaction?.type, transaction?.decline_code],
    ['noted', 'decline', 'do_not_honor'],
  )
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
})
