import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import type { Bill, PaymentRow } from './payment.ts'
import {
  findSpent,
  releasePayment,
  reservePayment,
  signedStore,
  stepPayment,
  takeOpenPayments,
} from './payment_store.ts'

const { db } = await openMoneyRoom()
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

let payments = 1

/** A payment of its own payer. */
async function openPayment(fields: Partial<Bill> = {}, at = NOW): Promise<PaymentRow> {
  payments += 1
  const bill = billOf(500n, `req_of_${payments}`)
  const payer = `0x${payments.toString(16).padStart(40, '0')}`
  const row = await reservePayment(
    db,
    { ...bill, ...fields, payment: { ...bill.payment, payer } },
    { id: `pay_${payments}`, now: at, leased_until: later(60) },
  )
  assert(row !== undefined)
  return row
}

test('a failed payment can pay for any call, a spent one for none', async () => {
  const [row] = await db.rows<PaymentRow>('select * from x402_payments')
  assert(row !== undefined)
  await stepPayment(db, row, { from: ['settling'], to: 'failed' }, NOW)
  const taken = await reserve(900n, 'req_b', later(200))
  assert.deepEqual([taken?.state, taken?.amount_micros], ['reserved', 900n])
  assert(taken !== undefined)
  await stepPayment(db, taken, { from: ['reserved'], to: 'spent' }, NOW)
  assert.equal(await reserve(900n, 'req_c', later(400)), undefined)
})

test('a released payment can be leased immediately, by its own request only', async () => {
  const row = await openPayment()
  await releasePayment(db, { ...row, request_id: 'another' }, NOW)
  assert.deepEqual(await open('reserved', NOW), [])
  await releasePayment(db, row, NOW)
  assert.deepEqual(await open('reserved', NOW), [row.id])
})

const open = async (state: PaymentRow['state'], before: Date) => {
  const rows = await takeOpenPayments(db, state, { before, leased_until: later(600), now: NOW })
  return rows.map(({ id }) => id)
}

test('concurrent nodes never take the same open payment', async () => {
  const rows = await Promise.all(Array.from({ length: 30 }, () => openPayment()))
  const taken = await Promise.all([1, 2, 3].map(() => open('reserved', later(60))))
  const ids = taken.flat()
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(ids.toSorted(), rows.map(({ id }) => id).toSorted())
})

test('findSpent returns the newest spent payment of a request', async () => {
  const fingerprint = 'a repeated request'
  const rows = [await openPayment({ fingerprint }), await openPayment({ fingerprint }, later(5))]
  assert.equal(await findSpent(db, fingerprint), undefined)
  for (const row of rows) await stepPayment(db, row, { from: ['reserved'], to: 'spent' }, NOW)
  assert.equal((await findSpent(db, fingerprint))?.id, rows[1]?.id)
})

test('concurrent signatures get consecutive nonces, no lower than the chain', async () => {
  const rows = await Promise.all(Array.from({ length: 5 }, () => openPayment()))
  const nonces = await Promise.all(
    rows.map(async (row) => {
      const store = signedStore(db, { row, purpose: 'settlement', now: NOW })
      const sign = async (nonce: bigint) => ({ nonce, txid: `0x${row.id}`, raw: '0x' })
      return Number((await store('0xrelayer', 7n, sign)).nonce)
    }),
  )
  assert.deepEqual(nonces.toSorted(), [10, 11, 7, 8, 9])
})

test('a payment that left its state takes no nonce', async () => {
  const row = await openPayment()
  await stepPayment(db, row, { from: ['reserved'], to: 'failed' }, NOW)
  const store = signedStore(db, { row, purpose: 'settlement', now: NOW })
  const sign = async (nonce: bigint) => ({ nonce, txid: '0xnone', raw: '0x' })
  await assert.rejects(store('0xrelayer', 0n, sign), /changed its state/)
  assert.deepEqual(await db.rows(`select 1 from x402_transfers where txid = '0xnone'`), [])
})
