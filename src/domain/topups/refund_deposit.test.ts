import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { eventTypes } from '#test/support/topups.ts'
import { abandonRefund, beginRefund, finishRefund } from './refund_deposit.ts'
import { findTopupOf } from './topup_store.ts'

const room = await openMoneyRoom()
const { db, dependencies } = room

async function openHeld() {
  const account_id = await room.openAccount()
  const topup = await room.openTopup(account_id)
  return { account_id, topup, id: await room.deposit(topup, 25_000_000n, 'block') }
}

const begin = (id: string) => room.operate((context) => beginRefund(context, id))
const contextIn = (tx: Tx) => ({
  ...dependencies,
  now: dependencies.clock.now(),
  emit: (account_id: string, event: NewEvent) =>
    emitAsSystem(tx, dependencies, account_id, { events: [event] }),
})
const finish = (id: string) => db.transaction((tx) => finishRefund(tx, contextIn(tx), id))
const abandon = (id: string) => db.transaction((tx) => abandonRefund(tx, contextIn(tx), id))

async function stateOf(id: string): Promise<[string, bigint]> {
  const [row] = await db.rows<{ state: string; suspense: bigint }>(
    `select t.state, (select coalesce(sum(e.amount_micros), 0)::bigint from entries e
                       where e.account_id = t.account_id and e.kind = 'suspense') as suspense
       from chain_transfers t where t.movement_id = $1`,
    [id],
  )
  return [row?.state ?? 'none', row?.suspense ?? 0n]
}

test('held → refunding: the money stays in suspense and the top-up shows refunded', async () => {
  const { id } = await openHeld()
  const { value, events, entries } = await begin(id)
  assert.deepEqual(await stateOf(id), ['refunding', 25_000_000n])
  assert.deepEqual([value.topup.status, value.topup.status_reason], ['error', 'refunded'])
  assert.deepEqual([events[0]?.type, entries[0]?.action], ['topup.error', 'refund_suspense'])
})

test('refunding → refunded when the transfer is final: the money leaves suspense', async () => {
  const { account_id, topup, id } = await openHeld()
  await begin(id)
  await finish(id)
  assert.deepEqual(await stateOf(id), ['refunded', 0n])
  const { credited_micros, final_micros } = await findTopupOf(db, account_id, topup.id)
  assert.deepEqual([credited_micros, final_micros], [0n, 25_000_000n])
})

test('refunding → held when the transfer fails, with the old reason and an event', async () => {
  const { account_id, topup, id } = await openHeld()
  await begin(id)
  await abandon(id)
  assert.deepEqual(await stateOf(id), ['held', 25_000_000n])
  assert.equal((await findTopupOf(db, account_id, topup.id)).status_reason, 'screening')
  assert.deepEqual(await eventTypes(db, account_id), [
    'topup.created',
    'topup.error',
    'topup.error',
  ])
  await begin(id)
  assert.deepEqual(await stateOf(id), ['refunding', 25_000_000n])
})

test('a refund starts only from held, and ends only from refunding', async () => {
  const { id } = await openHeld()
  await assert.rejects(finish(id), /a refund in progress has its deposit/)
  await assert.rejects(abandon(id), /a refund in progress has its deposit/)
  await begin(id)
  await assert.rejects(begin(id), { code: 'not_found' })
  await finish(id)
  for (const step of [begin, finish, abandon]) await assert.rejects(step(id))
  assert.deepEqual(await stateOf(id), ['refunded', 0n])
})

test('a top-up with another credited deposit stays completed', async () => {
  const { account_id, topup, id } = await openHeld()
  await room.deposit(topup, 30_000_000n)
  await begin(id)
  const { status, status_reason } = await findTopupOf(db, account_id, topup.id)
  assert.deepEqual([status, status_reason], ['completed', null])
})
