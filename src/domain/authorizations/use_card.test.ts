import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cardRequest, openCardBatch, transactionOf, USD } from '#test/support/card_batch.ts'
import type { ChallengeState } from './card_state.ts'
import { decide } from './decide.ts'

const once = (money: { card?: bigint; treasury?: bigint; owed?: bigint } = {}) =>
  openCardBatch(money, { usage: 'single_use' })

const locked = () => openCardBatch({}, { usage: 'merchant_locked' })

const merchant = (merchant_name: string, merchant_id: string | null = null) => ({
  merchant: {
    ...{ merchant_name, merchant_id, mcc: '5732', merchant_city: null },
    ...{ merchant_country: 'US', terminal_id: null },
  },
})

test('of two purchases in one batch, the second finds the single-use card used', async () => {
  const batch = await once({ treasury: 5n * USD })
  assert.equal(batch.send('authorize').verdict, 'approved')
  assert.deepEqual(batch.balances(), { card: 0, held: 10, treasury: 95, owed: 0 })
  const second = batch.send('authorize')
  assert.equal(second.decline_code, 'card_used')
  assert.deepEqual(transactionOf(second).failed_rules, [
    'card_used',
    'card_cancelled',
    'insufficient_funds',
  ])
  const types = ['transaction.authorized', 'card.cancelled', 'transaction.declined']
  assert.deepEqual(batch.eventTypes(), types)
  assert.equal(batch.state.used_cards.length, 1)
})

test('a single-message purchase uses the card after its amount was taken', async () => {
  const batch = await once()
  assert.equal(batch.send('debit').verdict, 'approved')
  assert.deepEqual(batch.balances(), { card: 0, held: 0, treasury: 90, owed: 0 })
  assert.equal(batch.card.cancel_reason, 'used')
})

test('a partial approval uses the card', async () => {
  const batch = await once({ card: 4n * USD })
  batch.state.partial_approvals = true
  const { part } = batch.send('authorize', { is_partial_ok: true })
  assert.equal(part?.micros, 4n * USD)
  assert.equal(batch.send('authorize', { usd: USD }).decline_code, 'card_used')
})

test('declines, verifications, balance inquiries and credits leave the card unused', async () => {
  const batch = await once()
  assert.equal(batch.send('authorize', { usd: 101n * USD }).decline_code, 'insufficient_funds')
  assert.equal(batch.send('authorize', { usd: 0n }).decline_code, 'invalid_amount')
  for (const kind of ['verify', 'balance', 'credit'] as const) {
    const usd = kind === 'credit' ? USD : 0n
    assert.equal(batch.send(kind, { usd }).verdict, 'approved')
  }
  assert.equal(batch.send('advise_declined').verdict, 'noted')
  assert.equal(batch.card.status, 'active')
  assert.equal(batch.send('authorize').verdict, 'approved')
  assert.equal(batch.send('verify', { usd: 0n }).decline_code, 'card_used')
})

test('forced posts and refunds leave the card unused', async () => {
  const batch = await once()
  batch.send('capture', { usd: 3n * USD })
  batch.send('refund', { usd: 2n * USD })
  assert.deepEqual([batch.card.status, batch.balances().card], ['active', 99])
  assert.equal(batch.send('authorize').verdict, 'approved')
})

test('a stand-in approval uses the card, even a frozen one; one of zero does not', async () => {
  const batch = await once()
  batch.send('advise', { usd: 0n })
  assert.equal(batch.card.status, 'active')
  batch.card.status = 'frozen'
  batch.send('advise', { usd: 7n * USD })
  assert.equal(batch.card.cancel_reason, 'used')
  assert.deepEqual(batch.balances(), { card: 0, held: 7, treasury: 93, owed: 0 })
  assert.equal(batch.send('authorize').decline_code, 'card_used')
  // The network has approved it, so it is accepted; the card has nothing to hold.
  assert.equal(batch.send('advise', { usd: USD }).verdict, 'noted')
  assert.equal(batch.state.used_cards.length, 1)
})

test('a stand-in approval of an account with a debt pays it from the rest of the card', async () => {
  const batch = await once({ card: 20n * USD, owed: 4n * USD })
  batch.send('advise')
  assert.deepEqual(batch.balances(), { card: 0, held: 10, treasury: 6, owed: 0 })
})

test('the hold is captured, incremented and reversed as on a cancelled card', async () => {
  const batch = await once()
  const { id } = transactionOf(batch.send('authorize'))
  const reference = { transaction_id: id }
  assert.equal(batch.send('increment', { usd: USD, reference }).decline_code, 'card_used')
  batch.send('capture', { usd: 4n * USD, reference })
  batch.send('reverse', { reference })
  assert.deepEqual(batch.balances(), { card: 0, held: 0, treasury: 96, owed: 0 })
  batch.send('refund', { usd: 4n * USD, reference })
  assert.equal(batch.balances().treasury, 100)
  assert.equal(batch.send('authorize').decline_code, 'card_used')
})

test('a purchase whose reversal came first leaves the card unused', async () => {
  const batch = await once()
  const request = cardRequest(batch.card, 'authorize')
  const reference = { original_identity: request.identity }
  assert.equal(batch.send('reverse', { reference }).verdict, 'original_unknown')
  assert.equal(decide(batch.state, request).decline_code, 'reversed_before_auth')
  assert.equal(batch.send('authorize').verdict, 'approved')
})

test('an increment of an unknown purchase is a purchase, and uses the card', async () => {
  const batch = await once()
  assert.equal(batch.send('increment').verdict, 'approved')
  assert.equal(batch.send('increment').decline_code, 'card_used')
})

test('a declined challenge leaves the card unused', async () => {
  const batch = await once()
  const challenge: ChallengeState = {
    ...{ account_id: batch.card.account_id, id: 'chg_1', card_id: batch.card.id },
    status: 'declined',
    ...{ amount_minor: 1_000n, currency: 'USD', merchant_name: 'Shop' },
    ...{ merchant_id: null, decided_at: batch.state.now, used_by: null },
  }
  const state = { ...batch.state, challenges: new Map([['chg_1', challenge]]) }
  const asked = cardRequest(batch.card, 'authorize', { challenge_id: 'chg_1' })
  assert.equal(decide(state, asked).decline_code, 'three_ds_failed')
  assert.equal(batch.card.status, 'active')
})

test('the first approved authorization sets the lock, and other merchants decline', async () => {
  const batch = await locked()
  assert.equal(batch.send('authorize', { usd: 500n * USD }).verdict, 'declined')
  assert.equal(batch.card.merchant_lock_name, null)
  assert.equal(batch.send('authorize', merchant('Netflix', 'M1')).verdict, 'approved')
  assert.equal(batch.send('authorize', merchant('NETFLIX', 'M1')).verdict, 'approved')
  assert.equal(batch.send('authorize', merchant('Netflix', 'M2')).decline_code, 'merchant_blocked')
  assert.equal(batch.send('authorize', merchant('Hulu')).decline_code, 'merchant_blocked')
  assert.equal(batch.send('debit', merchant('Netflix')).verdict, 'approved')
  assert.deepEqual(
    batch.state.locked_cards.map((card) => [card.merchant_lock_name, card.merchant_lock_id]),
    [['Netflix', 'M1']],
  )
  const locks = batch.state.events.filter(({ event }) => event.type === 'card.merchant_locked')
  assert.deepEqual(
    locks.map(({ event }) => event.message),
    ['Your card ending in 1234 now works only at Netflix.'],
  )
})

test('an account verification sets the lock; a balance inquiry and a credit do not', async () => {
  const batch = await locked()
  batch.send('balance', { usd: 0n, ...merchant('ATM') })
  batch.send('credit', merchant('Shop'))
  assert.equal(batch.card.merchant_lock_name, null)
  batch.send('verify', { usd: 0n, ...merchant('Netflix') })
  assert.equal(batch.send('authorize', merchant('Hulu')).decline_code, 'merchant_blocked')
  assert.equal(batch.send('verify', merchant('Hulu')).decline_code, 'merchant_blocked')
})

test('a stand-in approval sets the lock; advices of other merchants are accepted', async () => {
  const batch = await locked()
  batch.send('advise', merchant('Netflix'))
  assert.equal(batch.card.merchant_lock_name, 'Netflix')
  assert.equal(batch.send('advise', merchant('Hulu')).verdict, 'noted')
  assert.equal(batch.send('capture', merchant('Hulu')).verdict, 'noted')
  assert.equal(batch.send('refund', merchant('Hulu')).verdict, 'noted')
  assert.equal(batch.card.merchant_lock_name, 'Netflix')
})
