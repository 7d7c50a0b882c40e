import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { databaseProxy } from '#test/support/database_proxy.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Database, openDatabase } from './db.ts'
import { type Lease, LeaseLost, withLease } from './lease.ts'

let clone: TestDatabase
let db: Database

before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url)
})
after(async () => {
  await db.close()
  await clone.drop()
})

/** Work that goes on until its lease ends it. */
function endlessWork() {
  const work = { last_step_at: 0 }
  const run = async (lease: Lease) => {
    for (;;) {
      lease.check()
      work.last_step_at = performance.now()
      await wait(20)
    }
  }
  return { work, run }
}

test('a lease has one holder at a time and is free again when its work ends or fails', async () => {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const holder = withLease(db, 'jar', () => ended)
  await wait(200)
  assert.equal(await withLease(db, 'jar', async () => undefined), false)
  assert.equal(await withLease(db, 'bottle', async () => undefined), true)
  end()
  assert.equal(await holder, true)
  await assert.rejects(
    withLease(db, 'jar', async () => {
      throw new Error('broken work')
    }),
    /broken work/,
  )
  const isFree = () => withLease(db, 'jar', async () => undefined)
  assert.ok(await eventually(isFree, { within_ms: 20_000 }))
})

test('a lease lasts beyond the idle limit while its holder sends heartbeats', async () => {
  const held = withLease(db, 'long', async (lease) => {
    await wait(9_500)
    lease.check()
  })
  await wait(9_000)
  assert.equal(await withLease(db, 'long', async () => undefined), false)
  assert.equal(await held, true)
})

test('a holder that goes silent stops before another node takes over, within 15 seconds', async () => {
  const proxy = await databaseProxy(clone.url)
  const cut_off = openDatabase(proxy.url)
  try {
    const { work, run } = endlessWork()
    let lost_at = 0
    const lost = assert.rejects(withLease(cut_off, 'silent', run), LeaseLost).then(() => {
      lost_at = performance.now()
    })
    await wait(500)
    proxy.stall()
    const silent_at = performance.now()
    let taken_at = 0
    const take = () =>
      withLease(db, 'silent', async () => {
        taken_at = performance.now()
      })
    assert.ok(await eventually(take, { within_ms: 15_000 }), 'nobody took over')
    assert.ok(taken_at - silent_at < 15_000)
    await lost
    assert.ok(work.last_step_at > 0 && work.last_step_at < taken_at)
    assert.ok(lost_at < taken_at)
    await proxy.heal()
    assert.equal(await withLease(cut_off, 'silent', async () => undefined), true)
  } finally {
    await proxy.close()
    await cut_off.close()
  }
})

test('a lease ends immediately with its session', async () => {
  const { run } = endlessWork()
  const lost = assert.rejects(withLease(db, 'ended', run), LeaseLost)
  await wait(300)
  await db.rows(
    `select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database
                                                   where datname = current_database())`,
  )
  await lost
  assert.equal(await withLease(db, 'ended', async () => undefined), true)
})

test('every method of a guarded object throws once the lease is lost', async () => {
  const calls: string[] = []
  const part = { name: 'part', call: (word: string) => calls.push(word) }
  await assert.rejects(
    withLease(db, 'guarded', async (lease) => {
      const guarded = lease.guard(part)
      assert.equal(guarded.name, 'part')
      guarded.call('held')
      await db.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like '%idle_session_timeout%'
            and pid <> pg_backend_pid()`,
      )
      await wait(300)
      guarded.call('lost')
    }),
    LeaseLost,
  )
  assert.deepEqual(calls, ['held'])
})
