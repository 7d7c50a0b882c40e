import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { openMoneyRoom, ROOM_NOW } from '#test/support/money_room.ts'
import { eventTypes } from '#test/support/topups.ts'
import { advanceCursor, recordFault } from './chain_store.ts'
import { closeWindow, expireTopupsTask } from './expire_topups_task.ts'
import type { TopupRow } from './topup.ts'
import { findTopupOf } from './topup_store.ts'

const room = await openMoneyRoom()
const { db, dependencies, clock } = room
const task = expireTopupsTask(dependencies)
const account_id = await room.openAccount()
const EXPIRES_AT = new Date(ROOM_NOW.getTime() + 3_600_000)

/** The watcher has read the chain successfully at this time. */
async function readChain(at: Date): Promise<void> {
  const block = { number: 100, hash: 'aa', timestamp_ms: at.getTime() }
  await advanceCursor(db, { chain: 'tron', head: block, finalized: block, now: at })
}

let topup: TopupRow
beforeEach(async () => {
  await db.run('delete from chain_cursors')
  clock.set(ROOM_NOW)
  topup = await room.openTopup(account_id)
  clock.set(EXPIRES_AT)
})

async function statusAfterRun(): Promise<string> {
  await task.run()
  return (await findTopupOf(db, account_id, topup.id)).status
}

test('expires an awaiting top-up when its window closes, and not a millisecond before', async () => {
  await readChain(EXPIRES_AT)
  clock.set(new Date(EXPIRES_AT.getTime() - 1))
  assert.equal(await statusAfterRun(), 'awaiting')
  clock.set(EXPIRES_AT)
  assert.equal(await statusAfterRun(), 'cancelled')
  const { status_reason, closed_at, version } = await findTopupOf(db, account_id, topup.id)
  assert.deepEqual([status_reason, closed_at, version], ['expired', EXPIRES_AT, 2n])
})

test('emits topup.expired once, however often it runs', async () => {
  await readChain(EXPIRES_AT)
  const before = await eventTypes(db, account_id)
  await Promise.all([task.run(), task.run()])
  await task.run()
  const types = (await eventTypes(db, account_id)).slice(before.length)
  assert.deepEqual(types, ['topup.expired'])
})

test('waits until the chain was read after the window closed', async () => {
  assert.equal(await statusAfterRun(), 'awaiting', 'never read')
  await readChain(new Date(EXPIRES_AT.getTime() - 1))
  assert.equal(await statusAfterRun(), 'awaiting', 'read before')
  await readChain(EXPIRES_AT)
  await recordFault(db, 'tron', { fault: 'the node is down', now: EXPIRES_AT })
  assert.equal(await statusAfterRun(), 'awaiting', 'with a fault')
  await readChain(EXPIRES_AT)
  assert.equal(await statusAfterRun(), 'cancelled')
})

test('expires no top-up in another status', async () => {
  await readChain(EXPIRES_AT)
  for (const status of ['confirming', 'completed', 'cancelled', 'error']) {
    await db.run('update topups set status = $2, pending_micros = $3 where id = $1', [
      topup.id,
      status,
      status === 'confirming' ? 1n : 0n,
    ])
    assert.equal(await statusAfterRun(), status)
  }
})

test('closeWindow expires an awaiting top-up now and refuses any other', async () => {
  clock.set(ROOM_NOW)
  await closeWindow(dependencies, account_id, topup.id)
  assert.equal((await findTopupOf(db, account_id, topup.id)).status_reason, 'expired')
  const refused = { code: 'topup_not_cancellable' }
  await assert.rejects(closeWindow(dependencies, account_id, topup.id), refused)
  const other = await room.openAccount()
  const next = await room.openTopup(account_id)
  await assert.rejects(closeWindow(dependencies, other, next.id), { code: 'not_found' })
})
