import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Bill, type PaymentRow, type PaymentState, refusalOf } from './payment.ts'

const bill = { fingerprint: 'one', payment: { amount_micros: 500n } } as Bill
const known = (state: PaymentState, fields = {}) =>
  ({ fingerprint: 'one', amount_micros: 500n, state, ...fields }) as PaymentRow

const IN_PROGRESS = ['reserved', 'settling', 'settled'] as const
const USED = ['spent', 'failed', 'owed', 'refunding', 'refunded', 'credited'] as const

test('a payment of the same request in progress asks for a retry, a used one is refused', () => {
  for (const state of IN_PROGRESS) {
    const { code, retry_after_s } = refusalOf(known(state), bill)
    assert.deepEqual([code, retry_after_s], ['idempotency_in_progress', 1], state)
  }
  for (const state of USED) {
    const { code, message } = refusalOf(known(state), bill)
    assert.equal(code, 'payment_failed')
    assert.match(message, /already used/, state)
  }
})

test('a payment of another request, another amount or none is refused in every state', () => {
  for (const state of [...IN_PROGRESS, ...USED]) {
    for (const other of [
      known(state, { fingerprint: 'two' }),
      known(state, { amount_micros: 501n }),
      undefined,
    ]) {
      assert.match(refusalOf(other, bill).message, /signed for a different call/, state)
    }
  }
})
