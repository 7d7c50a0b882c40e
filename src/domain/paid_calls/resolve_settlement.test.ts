import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Settlement } from '#rails/x402/facilitator.ts'
import { openPaymentRoom, receiptOf } from '#test/support/payment_room.ts'
import { collect } from './collect.ts'
import type { PaymentRow } from './payment.ts'
import { findPayment, stepPayment } from './payment_store.ts'
import { resolveSettlement } from './resolve_settlement.ts'

const room = await openPaymentRoom()
const { db, context, facilitator, network, clock } = room
const resolve = (row: PaymentRow) => resolveSettlement(context, row)

beforeEach(() => {
  facilitator.outcome = () => ({ outcome: 'pending' })
  facilitator.signed.length = 0
  network.sent.length = 0
})

/** A payment whose transfer was signed and stored, and is not confirmed. */
async function openSettling(): Promise<{ row: PaymentRow; txid: string }> {
  const bill = room.newBill()
  await assert.rejects(collect(context, bill), { code: 'service_unavailable' })
  const row = await findPayment(db, bill.payment)
  const txid = facilitator.signed.at(-1)
  assert(row?.state === 'settling' && txid !== undefined)
  return { row, txid }
}

test('without a receipt the stored transfer is sent again and the payment stays pending', async () => {
  const { row } = await openSettling()
  network.sent.length = 0
  assert.deepEqual(await resolve(row), { outcome: 'pending' })
  assert.equal(network.sent.length, 1)
  assert.equal(await room.stateOf(row.id), 'settling')
})

test('a receipt with the coins settles the payment, once', async () => {
  const { row, txid } = await openSettling()
  network.mine(txid, row)
  assert.deepEqual(await resolve(row), { outcome: 'settled', txid })
  assert.deepEqual(await resolve(row), { outcome: 'settled', txid })
  const paid = await db.rows(
    `select 1 from movements where reference_id = $1 and movement = 'call_paid'`,
    [row.id],
  )
  assert.deepEqual([paid.length, await room.stateOf(row.id)], [1, 'settled'])
})

test('a reverted transfer fails the payment, and its fee is booked', async () => {
  const { row, txid } = await openSettling()
  network.mine(txid)
  assert.deepEqual(await resolve(row), { outcome: 'failed', reason: 'transaction_failed' })
  assert.equal(await room.stateOf(row.id), 'failed')
  const fees = await db.rows(
    `select 1 from movements where reference_id = $1 and movement = 'relayer_fee_paid'`,
    [row.id],
  )
  assert.equal(fees.length, 1)
})

test('a reverted transfer still settles if someone else sent the permission before', async () => {
  const { row, txid } = await openSettling()
  network.mine(txid)
  network.settlements.set(row.nonce, '0xfirst')
  network.receipts.set('0xfirst', receiptOf('0xfirst', row))
  assert.deepEqual(await resolve(row), { outcome: 'settled', txid: '0xfirst' })
})

test('a payment stays open until the node shows the transaction that used its permission', async () => {
  const { row, txid } = await openSettling()
  network.mine(txid)
  let used: () => Promise<string> = () => Promise.reject(new Error('not shown'))
  const since: Date[] = []
  const settlementOf = async (_payer: string, _nonce: string, from: Date) => {
    since.push(from)
    return used()
  }
  const looking = { ...context, network: { ...network, settlementOf } }
  await assert.rejects(resolveSettlement(looking, row), /not shown/)
  used = async () => '0xlagging'
  assert.deepEqual(await resolveSettlement(looking, row), { outcome: 'pending' })
  assert.equal(await room.stateOf(row.id), 'settling')
  assert.deepEqual(since, [row.created_at, row.created_at])
  network.receipts.set('0xlagging', receiptOf('0xlagging', row))
  assert.deepEqual(await resolveSettlement(looking, row), { outcome: 'settled', txid: '0xlagging' })
})

test('a remote facilitator is asked again until the permission has expired for ten minutes', async () => {
  let reply: Settlement = { outcome: 'failed', reason: 'unknown' }
  const remote = { verify: async () => null, settle: async () => reply }
  const remote_context = { ...context, relayer: null, facilitator: remote }
  const bill = room.newBill()
  const asking = { ...remote, settle: async () => ({ outcome: 'pending' as const }) }
  await assert.rejects(collect({ ...remote_context, facilitator: asking }, bill))
  const row = await findPayment(db, bill.payment)
  assert(row !== undefined)
  await stepPayment(db, row, { from: ['reserved'], to: 'settling' }, clock.now())

  assert.deepEqual(await resolveSettlement(remote_context, row), { outcome: 'pending' })
  clock.set(new Date(row.valid_before.getTime() + 600_000))
  assert.deepEqual(await resolveSettlement(remote_context, row), { outcome: 'pending' })
  reply = { outcome: 'pending' }
  clock.pass(1)
  assert.deepEqual(await resolveSettlement(remote_context, row), { outcome: 'pending' })
  reply = { outcome: 'failed', reason: 'unknown' }
  assert.deepEqual(await resolveSettlement(remote_context, row), reply)
  assert.equal(await room.stateOf(row.id), 'failed')
})
