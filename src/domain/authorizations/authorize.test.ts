import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BATCH_NOW, openCardBatch, transactionOf, USD } from '#test/support/card_batch.ts'

test('an approval holds the amount for a week, counts it and emits transaction.authorized', async () => {
  const batch = await openCardBatch()
  const decision = batch.send('authorize')
  assert.equal(decision.verdict, 'approved')
  const row = transactionOf(decision)
  assert.deepEqual(
    [row.type, row.status, row.authorization_id, row.held_micros, row.open_micros],
    ['authorization', 'pending', row.id, 10n * USD, 10n * USD],
  )
  assert.equal((row.expires_at?.getTime() ?? 0) - BATCH_NOW.getTime(), 7 * 86_400_000)
  assert.deepEqual(batch.balances(), { card: 90, held: 10, treasury: 0, owed: 0 })
  assert.deepEqual([batch.card.spent.daily, batch.card.spent.monthly], [10n * USD, 10n * USD])
  assert.deepEqual(batch.eventTypes(), ['transaction.authorized'])
})

test('an unknown card is declined without a transaction', async () => {
  const batch = await openCardBatch()
  const decision = batch.send('authorize', { pan_hash: 'another' })
  assert.deepEqual([decision.decline_code, decision.transaction], ['invalid_card', null])
  assert.deepEqual(batch.state.made, [])
})

test('a decline stores all objections, holds nothing and counts nothing', async () => {
  const batch = await openCardBatch({}, { status: 'frozen', mcc_deny: ['5732'] })
  const decision = batch.send('authorize', { usd: 2_001n * USD })
  assert.equal(decision.decline_code, 'card_frozen')
  assert.deepEqual(transactionOf(decision).failed_rules, [
    'card_frozen',
    'mcc_blocked',
    'limit_per_transaction',
    'limit_daily',
    'insufficient_funds',
  ])
  assert.deepEqual(batch.balances(), { card: 100, held: 0, treasury: 0, owed: 0 })
  assert.equal(batch.card.spent.daily, 0n)
  assert.deepEqual(batch.eventTypes(), ['transaction.declined'])
})

test('approves exactly the available balance, and not a micro-dollar more', async () => {
  const batch = await openCardBatch({ card: 10n * USD })
  const more = batch.send('authorize', { usd: 10n * USD + 1n })
  assert.equal(more.decline_code, 'insufficient_funds')
  assert.equal(batch.send('authorize').verdict, 'approved')
  assert.equal(batch.send('authorize', { usd: 10_000n }).decline_code, 'insufficient_funds')
})

test('decisions of one batch see each other: ten of thirty fit the daily limit', async () => {
  const limits = { per_transaction: 100n * USD, daily: 100n * USD, monthly: 1_000n * USD }
  const batch = await openCardBatch({ card: 1_000n * USD }, { limits })
  const codes = Array.from({ length: 30 }, () => batch.send('authorize').decline_code)
  assert.equal(codes.filter((code) => code === null).length, 10)
  assert.equal(codes.filter((code) => code === 'limit_daily').length, 20)
})

test('verify, balance and credit move nothing; balance returns the available amount', async () => {
  const batch = await openCardBatch({ card: 12_340_000n })
  for (const kind of ['verify', 'balance', 'credit'] as const) {
    const usd = kind === 'credit' ? 10n * USD : 0n
    const decision = batch.send(kind, { usd })
    assert.deepEqual([decision.verdict, decision.transaction], ['approved', null], kind)
    const available = kind === 'balance' ? 12_340_000n : null
    assert.equal(decision.available_micros, available, kind)
  }
  assert.deepEqual(batch.balances(), { card: 12.34, held: 0, treasury: 0, owed: 0 })
})

test('a debit is captured immediately and emits authorized and captured', async () => {
  const batch = await openCardBatch()
  const row = transactionOf(batch.send('debit'))
  assert.deepEqual(
    [row.status, row.captured_micros, row.open_micros, row.is_single_message],
    ['captured', 10n * USD, 0n, true],
  )
  assert.deepEqual(batch.balances(), { card: 90, held: 0, treasury: 0, owed: 0 })
  assert.deepEqual(batch.eventTypes(), ['transaction.authorized', 'transaction.captured'])
})

test('a partial approval takes whole cents, from one dollar, if funds are the only objection', async () => {
  const partial = { usd: 50n * USD, is_partial_ok: true }
  const batch = await openCardBatch({ card: 12_345_678n })
  assert.equal(batch.send('authorize', partial).verdict, 'declined', 'not enabled')
  batch.state.partial_approvals = true
  const { verdict, part } = batch.send('authorize', partial)
  assert.deepEqual([verdict, part], ['approved', { minor: 1_234n, micros: 12_340_000n }])

  for (const [money, fields] of [
    [{ card: 999_999n }, {}],
    [{ card: 20n * USD, owed: 1n }, {}],
    [{ card: 20n * USD }, { status: 'frozen' }],
  ] as const) {
    const other = await openCardBatch(money, fields)
    other.state.partial_approvals = true
    assert.equal(other.send('authorize', partial).verdict, 'declined')
  }
})

test('a wrong CVV or expiry counts as a failed attempt; the fifth blocks entry by number', async () => {
  const batch = await openCardBatch()
  const entry = { entry_mode: 'ecommerce', card_present: false, wallet: null } as const
  const wrong = [{ isCodeRight: () => false }, { expiry: '3001' }]
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const decision = batch.send('authorize', { entry, ...wrong[attempt % 2] })
    assert.match(decision.decline_code ?? '', /^(cvv|expiry)_mismatch$/)
  }
  const blocked = batch.send('authorize', { entry, isCodeRight: () => true })
  assert.equal(blocked.decline_code, 'verification_attempts_exceeded')
  assert.equal(blocked.is_code_right, null)
  assert(batch.state.failed_cards.has(batch.card))
})

test('an increment adds to the hold, and an unknown one is a purchase of its own', async () => {
  const batch = await openCardBatch()
  const first = transactionOf(batch.send('authorize'))
  const grown = batch.send('increment', { usd: 5n * USD, reference: { transaction_id: first.id } })
  assert.equal(transactionOf(grown), first)
  assert.deepEqual([first.amount_micros, first.held_micros], [15n * USD, 15n * USD])
  const other = batch.send('increment', { reference: { transaction_id: 'txn_unknown' } })
  assert.notEqual(transactionOf(other), first)
  assert.deepEqual(batch.balances(), { card: 75, held: 25, treasury: 0, owed: 0 })
})
