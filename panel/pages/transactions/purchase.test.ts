import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '#contract/transactions.ts'
import { isPurchase, matchesFilter, purchaseState, purchaseUsd } from './purchase.ts'

const row = (fields: Partial<Transaction>): Transaction => {
  const base = { id: 'txn_a', authorization_id: 'txn_a', type: 'authorization', amount_usd: 20 }
  return {
    ...{ ...base, held_usd: 0, captured_usd: 0, refunded_usd: 0, status: 'captured' },
    ...fields,
  } as Transaction
}

test('a purchase is its authorization, or an event without one', () => {
  assert.ok(isPurchase(row({})))
  assert.ok(isPurchase(row({ type: 'capture', authorization_id: null })))
  assert.ok(!isPurchase(row({ id: 'txn_b', type: 'capture' })))
  assert.ok(!isPurchase(row({ id: 'txn_c', type: 'refund' })))
})

test('the state follows the amounts captured, held and refunded', () => {
  const cases: [Partial<Transaction>, string, number][] = [
    [{ status: 'pending', held_usd: 20 }, 'pending', 20],
    [{ status: 'partially_captured', held_usd: 15, captured_usd: 5 }, 'pending', 20],
    [{ captured_usd: 22 }, 'completed', 22],
    [{ status: 'partially_captured', captured_usd: 5 }, 'completed', 5],
    [{ captured_usd: 20, refunded_usd: 5 }, 'partially_refunded', 20],
    [{ captured_usd: 20, refunded_usd: 20 }, 'refunded', 20],
    [{ status: 'reversed', captured_usd: 20, refunded_usd: 20 }, 'refunded', 20],
    [{ status: 'reversed' }, 'reversed', 20],
    [{ status: 'expired' }, 'expired', 20],
    [{ type: 'decline', status: 'declined' }, 'declined', 20],
    [{ type: 'refund', status: 'settled', authorization_id: null }, 'refunded', 20],
  ]
  for (const [fields, state, usd] of cases) {
    assert.equal(purchaseState(row(fields)), state, JSON.stringify(fields))
    assert.equal(purchaseUsd(row(fields)), usd, JSON.stringify(fields))
  }
})

test('a filter shows the purchases of its states, and no other events', () => {
  const refunded = row({ captured_usd: 20, refunded_usd: 5 })
  assert.ok(matchesFilter(refunded, 'refunded'))
  assert.ok(matchesFilter(refunded, ''))
  assert.ok(!matchesFilter(refunded, 'pending'))
  assert.ok(!matchesFilter(row({ id: 'txn_b', type: 'capture', status: 'settled' }), ''))
})
