import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { cardRequest, new_card } from '#test/support/card_batch.ts'
import { Purchases } from './purchases.ts'
import type { PurchaseReference } from './request.ts'

const row = (id: string, fields: Partial<TransactionRow> = {}): TransactionRow =>
  ({
    id,
    card_id: new_card.id,
    type: 'authorization',
    authorization_id: id,
    authorization_code: null,
    retrieval_reference_number: null,
    message_identity: null,
    open_micros: 0n,
    ...fields,
  }) as TransactionRow

const purchasesOf = (...rows: TransactionRow[]) => {
  const purchases = new Purchases()
  for (const one of rows) purchases.add(one)
  return purchases
}
const asking = (reference: Partial<PurchaseReference>) =>
  cardRequest(new_card, 'capture', { reference })

test('finds a purchase by ID, by reference number, by approval code and by its message', () => {
  const purchases = purchasesOf(
    row('txn_1'),
    row('txn_2', { retrieval_reference_number: 'R2' }),
    row('txn_3', { authorization_code: 'C3' }),
    row('txn_4', { message_identity: 'M4' }),
  )
  const references: [Partial<PurchaseReference>, string][] = [
    [{ transaction_id: 'txn_1' }, 'txn_1'],
    [{ retrieval_reference_number: 'R2' }, 'txn_2'],
    [{ authorization_code: 'C3' }, 'txn_3'],
    [{ original_identity: 'M4' }, 'txn_4'],
  ]
  for (const [reference, id] of references) {
    assert.equal(purchases.ofClearing(new_card, asking(reference))?.id, id)
    assert.equal(purchases.ofReversal(new_card, asking(reference))?.id, id)
  }
  assert.equal(purchases.ofClearing(new_card, asking({})), null)
})

test('a clearing prefers the reference number, a reversal the named message', () => {
  const purchases = purchasesOf(
    row('txn_1', { retrieval_reference_number: 'R' }),
    row('txn_2', { message_identity: 'M' }),
  )
  const both = asking({ retrieval_reference_number: 'R', original_identity: 'M' })
  assert.equal(purchases.ofClearing(new_card, both)?.id, 'txn_1')
  assert.equal(purchases.ofReversal(new_card, both)?.id, 'txn_2')
})

test('of purchases with one reference: approvals, then the code, then open ones, then the newest', () => {
  const R = { retrieval_reference_number: 'R' }
  const asked = cardRequest(new_card, 'refund', { reference: { ...R, authorization_code: 'C' } })
  const rows = [
    row('txn_9', { ...R, type: 'decline', authorization_id: null }),
    row('txn_8', { ...R, type: 'capture', authorization_id: null }),
    row('txn_2', R),
    row('txn_3', R),
    row('txn_0', { ...R, open_micros: 1n }),
    row('txn_1', { ...R, authorization_code: 'C' }),
  ]
  for (let count = 1; count <= rows.length; count += 1) {
    const expected = [undefined, 'txn_8', 'txn_2', 'txn_3', 'txn_0', 'txn_1'][count - 1]
    const purchases = purchasesOf(...rows.slice(0, count))
    assert.equal(purchases.ofClearing(new_card, asked)?.id, expected)
  }
})

test('a decline with the reference number does not hide the purchase with the approval code', () => {
  const R = { retrieval_reference_number: 'R' }
  const purchases = purchasesOf(
    row('txn_1', { authorization_code: 'C' }),
    row('txn_2', { ...R, type: 'decline', authorization_id: null }),
  )
  const asked = asking({ ...R, authorization_code: 'C' })
  assert.equal(purchases.ofClearing(new_card, asked)?.id, 'txn_1')
})

test('a message that changed a purchase finds it, on its card only', () => {
  const purchases = purchasesOf(row('txn_1'), row('txn_2', { card_id: 'card_2' }))
  purchases.addChange('M1', { transaction_id: 'txn_1', is_request: true })
  purchases.addChange('M2', { transaction_id: 'txn_2', is_request: true })
  for (const [original_identity, id] of [
    ['M1', 'txn_1'],
    ['M2', undefined],
  ] as const) {
    assert.equal(purchases.ofClearing(new_card, asking({ original_identity }))?.id, id)
    assert.equal(purchases.ofReversal(new_card, asking({ original_identity }))?.id, id)
  }
})

test('a clearing that names a capture finds its authorization', () => {
  const capture = row('txn_2', {
    type: 'capture',
    authorization_id: 'txn_1',
    message_identity: 'M',
  })
  const purchases = purchasesOf(row('txn_1'), capture)
  assert.equal(purchases.ofClearing(new_card, asking({ original_identity: 'M' }))?.id, 'txn_1')
  assert.equal(purchases.ofReversal(new_card, asking({ original_identity: 'M' }))?.id, 'txn_2')
})

test("another card's purchase is never found", () => {
  const purchases = purchasesOf(row('txn_1', { card_id: 'card_2', message_identity: 'M' }))
  for (const reference of [{ transaction_id: 'txn_1' }, { original_identity: 'M' }]) {
    assert.equal(purchases.ofClearing(new_card, asking(reference)), null)
    assert.equal(purchases.ofReversal(new_card, asking(reference)), null)
  }
})
