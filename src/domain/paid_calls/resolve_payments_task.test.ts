import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { assertBooksSound } from '#test/support/money.ts'
import { openPaymentRoom, PRICE } from '#test/support/payment_room.ts'
import { collect } from './collect.ts'
import type { Bill, PaymentRow } from './payment.ts'
import { owe } from './payment_money.ts'
import { findPayment, findTransfers, reservePayment } from './payment_store.ts'
import { resolvePaymentsTask } from './resolve_payments_task.ts'

const room = await openPaymentRoom()
const { db, context, facilitator, network, clock } = room
const task = resolvePaymentsTask(context)
const GRACE_MS = 10 * 60_000
const LEASE_MS = 60_000

beforeEach(() => {
  facilitator.outcome = () => ({ outcome: 'pending' })
})

async function openOwed(fields: Partial<Bill> = {}): Promise<PaymentRow> {
  const row = await room.openSettled(fields)
  await owe(db, row, 'insufficient_balance', clock.now())
  return row
}

test('a reserved payment is abandoned when its lease ends, not before', async () => {
  const now = clock.now()
  const leased_until = new Date(now.getTime() + LEASE_MS)
  const id = context.newId('pay', now)
  await reservePayment(db, room.newBill(), { id, now, leased_until })
  clock.pass(LEASE_MS - 1)
  await task.run()
  assert.equal(await room.stateOf(id), 'reserved')
  clock.pass(1)
  await task.run()
  assert.equal(await room.stateOf(id), 'failed')
})

test('a settling payment is settled by its receipt', async () => {
  const bill = room.newBill()
  await assert.rejects(collect(context, bill))
  const row = await findPayment(db, bill.payment)
  assert(row !== undefined)
  await task.run()
  assert.equal(await room.stateOf(row.id), 'settling')
  network.mine(facilitator.signed.at(-1) ?? '', row)
  await task.run()
  assert.equal(await room.stateOf(row.id), 'settled')
})

test('a settled payment waits ten minutes for its call, then its account is credited', async () => {
  const account_id = await room.openAccount()
  const row = await room.openSettled({ account_id })
  clock.pass(LEASE_MS + GRACE_MS - 1)
  await task.run()
  assert.equal(await room.stateOf(row.id), 'settled')
  clock.pass(1)
  await task.run()
  await task.run()
  assert.equal(await room.stateOf(row.id), 'credited')
  const credits = await db.rows<{ amount_micros: bigint }>(
    `select amount_micros from movements where reference_id = $1 and movement = 'call_credited'`,
    [row.id],
  )
  assert.deepEqual(credits, [{ amount_micros: PRICE }])
  const entries = await db.rows('select 1 from audit_entries where account_id = $1', [account_id])
  assert.equal(entries.length, 1)
})

test('an owed payment without an account is refunded on the chain, once', async () => {
  const row = await openOwed()
  for (let run = 0; run < 3; run += 1) await task.run()
  assert.equal(await room.stateOf(row.id), 'refunding')
  const refunds = await findTransfers(db, row.id, 'refund')
  assert.equal(refunds.length, 1)
  network.mine(refunds[0]?.txid ?? '', row)
  await task.run()
  await task.run()
  assert.equal(await room.stateOf(row.id), 'refunded')
  await assertBooksSound(db)
})

test('a reverted refund is owed again and refunded by another transfer', async () => {
  const row = await openOwed()
  await task.run()
  const [first] = await findTransfers(db, row.id, 'refund')
  network.mine(first?.txid ?? '')
  await task.run()
  await task.run()
  const refunds = await findTransfers(db, row.id, 'refund')
  assert.equal(refunds.length, 2)
  network.mine(refunds[1]?.txid ?? '', row)
  await task.run()
  assert.equal(await room.stateOf(row.id), 'refunded')
  await assertBooksSound(db)
})

test('no refund is sent to a blocked payer, nor without a relayer', async () => {
  const row = await openOwed()
  const screen = async () => ({ decision: 'block' as const, source: 'test', list_version: '1' })
  await resolvePaymentsTask({ ...context, screener: { screen } }).run()
  await resolvePaymentsTask({ ...context, relayer: null }).run()
  assert.equal(await room.stateOf(row.id), 'owed')
  assert.deepEqual(await findTransfers(db, row.id, 'refund'), [])
  await task.run()
  assert.equal(await room.stateOf(row.id), 'refunding')
})

test('one payment that cannot be resolved does not stop the others', async () => {
  const [bad, good] = [await openOwed(), await openOwed()]
  const screen = async ({ address }: { address: string }) => {
    if (address === bad.payer) throw new Error('the list is unavailable')
    return { decision: 'allow' as const, source: 'test', list_version: '1' }
  }
  await resolvePaymentsTask({ ...context, screener: { screen } }).run()
  assert.deepEqual([await room.stateOf(bad.id), await room.stateOf(good.id)], ['owed', 'refunding'])
})

test('two nodes at the same time refund a payment once', async () => {
  const row = await openOwed()
  await Promise.all([task.run(), resolvePaymentsTask(context).run()])
  assert.equal((await findTransfers(db, row.id, 'refund')).length, 1)
})

test('a signed transfer is sent again after five seconds until it is mined', async () => {
  const row = await openOwed()
  await task.run()
  network.sent.length = 0
  await task.run()
  const [transfer] = await findTransfers(db, row.id, 'refund')
  assert(!network.sent.includes(transfer?.raw ?? ''))
  clock.pass(5_000)
  await task.run()
  assert(network.sent.includes(transfer?.raw ?? ''))
})

test('the books stay sound through all of it', () => assertBooksSound(db))
