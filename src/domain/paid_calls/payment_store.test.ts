import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from '#test/support/start.ts'
import type { Bill } from './payment.ts'
import { reservePayment, stepPayment } from './payment_store.ts'

const { runtime } = await startTestService()
const { db } = runtime
const NOW = new Date('2026-06-01T12:00:00Z')
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000)

/** The same permission of one payer for the same request, with these terms. */
function billOf(amount_micros: bigint, request_id: string): Bill {
  return {
    priced: { amount_micros, pay_to: `0x${'2'.repeat(40)}`, url: 'http://x/v1', description: '' },
    payment: {
      payer: `0x${'1'.repeat(40)}`,
      nonce: `0x${'3'.repeat(64)}`,
      amount_micros,
      valid_before: later(Number(amount_micros)),
      payload: { x402Version: 2, note: request_id } as never,
    },
    operation: 'issue_card',
    account_id: null,
    request_id,
    fingerprint: 'the same request',
  }
}

const reserve = (amount_micros: bigint, request_id: string, at: Date) =>
  reservePayment(db, billOf(amount_micros, request_id), {
    id: 'pay_1',
    now: at,
    leased_until: later(60),
  })

test('a settling payment keeps its terms and is leased only to a retry with the same terms', async () => {
  const sent = await reserve(500n, 'req_1', NOW)
  assert(sent !== undefined)
  await stepPayment(db, sent, { from: ['reserved'], to: 'settling' }, NOW)
  const repeats = await Promise.all(
    [100n, 500n, 100n, 900n].map((amount, at) => reserve(amount, `req_${at + 2}`, later(61))),
  )
  assert.deepEqual(
    repeats.map((row) => row?.request_id),
    [undefined, 'req_3', undefined, undefined],
  )
  const [row] = await db.rows<typeof sent>('select * from x402_payments')
  assert.deepEqual(
    [row?.state, row?.amount_micros, row?.valid_before, row?.payload, row?.pay_to],
    ['settling', 500n, sent.valid_before, sent.payload, sent.pay_to],
  )
})
