import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Log } from '#platform/runtime/log.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { type DatabaseProxy, databaseProxy } from '#test/support/database_proxy.ts'
import { eventually } from '#test/support/eventually.ts'
import { holdRows } from '#test/support/held_rows.ts'
import { ConcurrentUpdate } from './concurrent_update.ts'
import { type Database, DatabaseUnavailable, openAccountPool, openDatabase, type Tx } from './db.ts'
import { copyWrite, countedWrite, plainWrite } from './write.ts'

let clone: TestDatabase
let db: Database
const opened: Database[] = []
const proxies: DatabaseProxy[] = []

before(async () => {
  clone = await cloneDatabase()
  db = open(clone.url)
  await db.run('create table jars (name text primary key, amount bigint not null)')
})
after(async () => {
  for (const each of opened) await each.close()
  for (const each of proxies) await each.close()
  await clone.drop()
})

function open(url: string, options: Parameters<typeof openDatabase>[1] = {}): Database {
  const each = openDatabase(url, { pool_size: 4, ...options })
  opened.push(each)
  return each
}

async function proxied(): Promise<DatabaseProxy> {
  const proxy = await databaseProxy(clone.url)
  proxies.push(proxy)
  return proxy
}

const fill = async (...names: readonly string[]) => {
  await db.run('delete from jars')
  for (const name of names) await db.run('insert into jars values ($1, 100)', [name])
}
const add = (tx: Tx, name: string, amount: number) =>
  tx.run('update jars set amount = amount + $2 where name = $1', [name, amount])
const amountOf = async (name: string) => {
  const [row] = await db.rows<{ amount: bigint }>('select amount from jars where name = $1', [name])
  return row?.amount
}

const adding = (name: string, amount: number) =>
  plainWrite('update jars set amount = amount + $2 where name = $1', [name, amount])

const unavailable = (work: Promise<unknown>) => assert.rejects(work, DatabaseUnavailable)

test('bigint columns are returned as bigint, never rounded', async () => {
  const [row] = await db.rows<{ n: bigint }>('select 9007199254740993::bigint as n')
  assert.equal(row?.n, 9_007_199_254_740_993n)
})

test('a transaction is committed completely or not at all', async () => {
  await fill('a', 'b')
  const refused = db.transaction(async (tx) => {
    await add(tx, 'a', -30)
    throw new Error('changed its mind')
  })
  await assert.rejects(refused, /changed its mind/)
  assert.equal(await amountOf('a'), 100n)
  await db.transaction(async (tx) => {
    await add(tx, 'a', -30)
    await add(tx, 'b', 30)
  })
  assert.deepEqual([await amountOf('a'), await amountOf('b')], [70n, 130n])
})

test('a statement that is sent right before the work fails is rolled back with it', async () => {
  await fill('a')
  const failed = db.transaction(async (tx) => {
    await add(tx, 'a', 1)
    void add(tx, 'a', 10)
    throw new Error('after it was sent')
  })
  await assert.rejects(failed, /after it was sent/)
  assert.equal(await amountOf('a'), 100n)
})

test('onCommit is called for commits, but not for rollbacks and single statements', async () => {
  let commits = 0
  const announcing = open(clone.url, { onCommit: () => (commits += 1) })
  await announcing.rows('select 1')
  await assert.rejects(
    announcing.transaction(async () => {
      throw new Error('no')
    }),
  )
  assert.equal(commits, 0)
  await announcing.transaction((tx) => tx.rows('select 1'))
  assert.equal(commits, 1)
})

test('work that swallowed a failed statement is never reported as committed', async () => {
  await fill('a')
  const hushed = db.transaction(async (tx) => {
    await add(tx, 'a', 1)
    await tx.run('insert into jars values ($1, 1)', ['a']).catch(() => undefined)
    return 'done'
  })
  await assert.rejects(hushed)
  assert.equal(await amountOf('a'), 100n)
})

test('writes sent together with their commit are all kept, or none if one fails', async () => {
  await fill('a', 'b')
  await db.transaction((_, commitWith) => commitWith([adding('a', -30), adding('b', 30)]))
  assert.deepEqual([await amountOf('a'), await amountOf('b')], [70n, 130n])
  const double = plainWrite(`insert into jars values ('b', 1)`, [])
  const failing = db.transaction((_, commitWith) =>
    commitWith([adding('a', -30), double, adding('b', 30)]),
  )
  await assert.rejects(failing, /duplicate key/, 'the first failure is reported')
  assert.deepEqual([await amountOf('a'), await amountOf('b')], [70n, 130n])
})

test('the first failed statement is reported, even if a later COPY rejects earlier', async () => {
  await fill('a')
  const copy = copyWrite('copy jars from stdin (format binary)', {
    data: Buffer.from('no COPY data'),
    asInsert: () => assert.fail('a login that owns the table uses COPY'),
  })
  const changed = countedWrite(7, 'update jars set amount = amount + $1', [1])
  for (let round = 0; round < 20; round += 1) {
    const failing = db.transaction((_, commitWith) => commitWith([changed, copy, copy, copy]))
    await assert.rejects(failing, ConcurrentUpdate)
  }
  const asked = db.transaction(async (tx) => {
    await Promise.all([tx.write(changed), tx.write(copy)])
  })
  await assert.rejects(asked, ConcurrentUpdate)
  assert.equal(await amountOf('a'), 100n)
})

test('no statement can follow the commit', async () => {
  await fill('a')
  const late = db.transaction(async (tx, commitWith) => {
    void commitWith([])
    await add(tx, 'a', 1)
  })
  await assert.rejects(late, /no statement follows the commit/)
  assert.equal(await amountOf('a'), 100n)
})

test('a write that changes another number of rows than expected rolls back', async () => {
  await fill('a', 'b')
  const double = 'update jars set amount = amount * 2 where amount = $1'
  const change = (count: number) =>
    db.transaction(async (tx) => {
      await add(tx, 'a', 0)
      await tx.write(countedWrite(count, double, [100]))
    })
  await assert.rejects(change(1), ConcurrentUpdate)
  await assert.rejects(db.write(countedWrite(1, double, [100])), ConcurrentUpdate)
  assert.deepEqual([await amountOf('a'), await amountOf('b')], [100n, 100n])
  await change(2)
  assert.deepEqual([await amountOf('a'), await amountOf('b')], [200n, 200n])
})

test('two deadlocked transactions both succeed in the end, each once', async () => {
  await fill('a', 'b')
  let waiting: (() => void)[] = []
  // Both hold their first lock before either asks for its second; only on the first round.
  const meet = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 2) for (const go of waiting) go()
    })
  const runs = { count: 0 }
  const move = (from: string, to: string) => {
    let isFirst = true
    return db.transaction(async (tx) => {
      runs.count += 1
      await add(tx, from, -10)
      if (isFirst) {
        isFirst = false
        await meet()
      }
      await add(tx, to, 10)
    })
  }
  await Promise.all([move('a', 'b'), move('b', 'a')])
  waiting = []
  // Mostly three. A victim that retries before the other has woken up blocks it again.
  assert.ok(runs.count >= 3, 'one of the two was the deadlock’s victim and was run again')
  assert.deepEqual([await amountOf('a'), await amountOf('b')], [100n, 100n])
})

test('endless contention becomes a 503 instead of a loop', async () => {
  let runs = 0
  const work = db.transaction(async (tx) => {
    runs += 1
    await tx.rows(`do $$ begin raise exception 'busy' using errcode = '40001'; end $$`)
  })
  await unavailable(work)
  assert.equal(runs, 3)
})

test('each statement text is prepared once, under its own name', async () => {
  const one = open(clone.url, { pool_size: 1 })
  const sql = 'select count(*) from jars where amount > $1'
  for (let at = 0; at < 5; at += 1) await one.rows(sql, [at])
  await one.transaction((tx) => tx.rows(sql, [9]))
  const prepared = await one.rows<{ name: string }>(
    'select name from pg_prepared_statements where statement = $1',
    [sql],
  )
  assert.equal(prepared.length, 1)
  assert.match(prepared[0]?.name ?? '', /^s\d+$/)
})

test('idle connections that the server closes do not end the process', async () => {
  const lines: string[] = []
  const log: Log = { info: () => undefined, error: (message) => lines.push(message) }
  const idle = open(clone.url, { log })
  await Promise.all(Array.from({ length: 4 }, () => idle.rows('select pg_sleep(0.05)')))
  const listening = await idle.listen('florin_test', () => undefined)
  const ended = await db.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )
  assert.ok(ended.length >= 5)
  assert.ok(await eventually(async () => lines.length >= 1, { within_ms: 20_000 }))
  assert.ok(
    await eventually(
      () =>
        idle.rows('select 1').then(
          () => true,
          () => false,
        ),
      { within_ms: 20_000 },
    ),
  )
  await listening()
})

test('a backend that dies during a transaction is a 503, and the next transaction works', async () => {
  await fill('a')
  const victim = open(clone.url, { pool_size: 1 })
  const work = victim.transaction(async (tx) => {
    await add(tx, 'a', 1)
    const [row] = await tx.rows<{ pid: number }>('select pg_backend_pid() as pid')
    await db.rows('select pg_terminate_backend($1)', [row?.pid])
    await tx.rows('select 1')
  })
  await unavailable(work)
  assert.equal(await amountOf('a'), 100n)
  await victim.transaction((tx) => add(tx, 'a', 1))
  assert.equal(await amountOf('a'), 101n)
})

test('a dead server is a 503 for every kind of call, and calls work again when it is back', async () => {
  const proxy = await proxied()
  const cut = open(proxy.url)
  await cut.rows('select 1')
  await proxy.cut()
  await unavailable(cut.rows('select 1'))
  await unavailable(cut.run('select 1'))
  await unavailable(cut.transaction((tx) => tx.rows('select 1')))
  await unavailable(cut.connection((client) => client.query('select 1')))
  await proxy.heal()
  assert.deepEqual(await cut.rows('select 1 as n'), [{ n: 1 }])
  assert.deepEqual(await cut.transaction((tx) => tx.rows('select 2 as n')), [{ n: 2 }])
})

test('an unconfirmed commit is not a success, and its connection is not reused', async () => {
  await fill('a')
  const proxy = await proxied()
  const stalled = open(proxy.url, {
    pool_size: 1,
    fail: (point) => {
      if (point === 'before_commit') proxy.stall()
    },
  })
  const began = performance.now()
  await unavailable(stalled.transaction((tx) => add(tx, 'a', 1)))
  assert.ok(performance.now() - began < 7_000)
  await proxy.heal()
  assert.deepEqual(await stalled.rows('select 1 as n'), [{ n: 1 }])
})

test('work that fails while the database is silent gives its connection back', async () => {
  const proxy = await proxied()
  const stalled = open(proxy.url, { pool_size: 1 })
  const failing = stalled.transaction(async (tx) => {
    await tx.rows('select 1')
    proxy.stall()
    throw new Error('the work failed')
  })
  await unavailable(failing)
  await proxy.heal()
  assert.deepEqual(await stalled.rows('select 1 as n'), [{ n: 1 }])
})

test('a silent database is a 503 after twelve seconds, and calls work again when it is back', async () => {
  const proxy = await proxied()
  const deaf = open(proxy.url, { pool_size: 2 })
  await Promise.all([deaf.rows('select pg_sleep(0.05)'), deaf.rows('select pg_sleep(0.05)')])
  proxy.stall()
  await Promise.all([
    unavailable(deaf.rows('select 1')),
    unavailable(deaf.transaction((tx) => tx.rows('select 1'))),
  ])
  await proxy.heal()
  assert.deepEqual(await deaf.rows('select 1 as n'), [{ n: 1 }])
})

test('when every connection is in use, the next caller gets a 503 after three seconds', async () => {
  const small = open(clone.url, { pool_size: 1 })
  const holder = small.rows('select pg_sleep(4)')
  const began = performance.now()
  await unavailable(small.rows('select 1'))
  const ms = performance.now() - began
  assert.ok(ms > 2_500 && ms < 3_900, `after ${Math.round(ms)} ms`)
  await holder
})

test('a lock that is held too long is a 503, and nothing is written', async () => {
  await fill('a')
  const held = await holdRows(db, (tx) => add(tx, 'a', 5))
  await unavailable(db.transaction((tx) => add(tx, 'a', 1)))
  await held.release()
  assert.equal(await amountOf('a'), 105n)
})

test('a constraint violation is not mistaken for an unavailable database', async () => {
  await fill('a')
  const twice = db.run('insert into jars values ($1, 1)', ['a'])
  await assert.rejects(twice, (cause) => !(cause instanceof DatabaseUnavailable))
  await assert.rejects(
    db.transaction((tx) => tx.rows('select nonsense')),
    (cause) => !(cause instanceof DatabaseUnavailable),
  )
})

test('a connection that became read-only is not reused', async () => {
  await fill('a')
  const demoted = open(clone.url, { pool_size: 1 })
  await demoted.rows('set session characteristics as transaction read only')
  await unavailable(demoted.transaction((tx) => add(tx, 'a', 1)))
  await demoted.transaction((tx) => add(tx, 'a', 1))
  await demoted.rows('set session characteristics as transaction read only')
  await unavailable(demoted.run('update jars set amount = amount + 1'))
  await demoted.run('update jars set amount = amount + 1')
  assert.equal(await amountOf('a'), 102n)
})

test('notifications arrive, also after the connection was lost', async () => {
  const proxy = await proxied()
  const subscriber = open(proxy.url)
  const received: string[] = []
  const stop = await subscriber.listen('florin_listening', (payload) => received.push(payload))
  const say = (payload: string) =>
    db.rows('select pg_notify($1, $2)', ['florin_listening', payload])
  await say('before')
  assert.ok(await eventually(async () => received.includes('before'), { within_ms: 20_000 }))
  await proxy.cut()
  await proxy.heal()
  const again = async () => {
    await say('after')
    return received.includes('after')
  }
  assert.ok(await eventually(again, { within_ms: 20_000 }))
  await stop()
  await proxy.cut()
})

test('a statement of an account is planned once per connection, whatever its parameters', async () => {
  const pool = openAccountPool(clone.url, { pool_size: 1 })
  try {
    const account = pool.of('acct_1')
    for (let ids = 1; ids <= 8; ids += 1) {
      await account.rows('select id from accounts where id = any($1) limit $2', [
        Array.from({ length: ids }, (_, at) => `acct_${at}`),
        ids,
      ])
    }
    const [plans] = await account.rows<{ custom_plans: bigint; generic_plans: bigint }>(
      `select custom_plans, generic_plans from pg_prepared_statements
        where statement like 'select id from accounts%'`,
    )
    assert.deepEqual(plans, { custom_plans: 0n, generic_plans: 8n })
  } finally {
    await pool.close()
  }
})
