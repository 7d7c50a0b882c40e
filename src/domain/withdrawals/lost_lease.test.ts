import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseLost, withLease } from '#platform/postgres/lease.ts'
import { eventually } from '#test/support/eventually.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { outletOf, withdrawalDependencies } from '#test/support/withdrawal_room.ts'
import { guardWithLease } from './hot_wallet_runs.ts'

const room = await openMoneyRoom()
const { db } = room

const END_LEASES = `select pg_terminate_backend(pid) from pg_locks
  where locktype = 'advisory' and database = (select oid from pg_database
                                               where datname = current_database())`

test('a node that lost its lease can neither write, sign nor send', async () => {
  const calls: string[] = []
  const sign = async () => assert.fail('it signed')
  const broadcast = async () => assert.fail('it sent')
  const dependencies = withdrawalDependencies(room, { signer: { sign } })
  const run = withLease(db, 'withdrawals:test', async (lease) => {
    const guarded = guardWithLease(lease, dependencies, outletOf(room, { broadcast }))
    const [{ db: own_db, signer }, sender] = guarded
    await own_db.rows('select 1')
    await db.rows(END_LEASES)
    const isLost = async () => {
      try {
        lease.check()
        return false
      } catch {
        return true
      }
    }
    assert.ok(await eventually(isLost, { within_ms: 5_000 }))
    const attempts = {
      read: () => own_db.rows('select 1'),
      write: () => own_db.transaction(async () => undefined),
      sign: () => signer.sign({} as never),
      send: () => sender.broadcast({} as never),
    }
    for (const [name, attempt] of Object.entries(attempts)) {
      assert.throws(attempt, LeaseLost, name)
      calls.push(name)
    }
  })
  await assert.rejects(run, LeaseLost)
  assert.deepEqual(calls, ['read', 'write', 'sign', 'send'])
})
