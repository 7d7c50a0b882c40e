import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { type DatabaseProxy, databaseProxy } from '#test/support/database_proxy.ts'
import { eventually } from '#test/support/eventually.ts'
import { fakePostgres } from '#test/support/fake_postgres.ts'
import { type Database, DatabaseUnavailable, openDatabase } from './db.ts'
import { withSchema } from './schema.ts'

let clone: TestDatabase
const opened: Database[] = []
const proxies: DatabaseProxy[] = []

before(async () => {
  clone = await cloneDatabase()
})
after(async () => {
  for (const each of opened) await each.close()
  for (const each of proxies) await each.close()
  await clone.drop()
})

function open(url: string): Database {
  const each = openDatabase(url, { pool_size: 4 })
  opened.push(each)
  return each
}

async function proxied(): Promise<DatabaseProxy> {
  const proxy = await databaseProxy(clone.url)
  proxies.push(proxy)
  return proxy
}

const unavailable = (work: Promise<unknown>) => assert.rejects(work, DatabaseUnavailable)
const portOf = (url: string) => new URL(url).port
const withHosts = (...ports: readonly (number | string)[]) =>
  clone.url.replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(','))

test('if the first host refuses, the second one serves the first call', async () => {
  const proxy = await proxied()
  await proxy.cut()
  const two = open(withHosts(proxy.port, portOf(clone.url)))
  assert.deepEqual(await two.rows('select 1 as n'), [{ n: 1 }])
  assert.deepEqual(await two.transaction((tx) => tx.rows('select 2 as n')), [{ n: 2 }])
})

test('a pool fails over to the other host and back', async () => {
  const [first, second] = [await proxied(), await proxied()]
  const two = open(withHosts(first.port, second.port))
  await two.rows('select 1')
  await first.cut()
  const answers = () =>
    two.rows('select 1').then(
      () => true,
      () => false,
    )
  assert.ok(await eventually(answers, { within_ms: 20_000 }))
  await first.heal()
  await second.cut()
  assert.ok(await eventually(answers, { within_ms: 20_000 }))
})

test('a connection that is reset while its host is checked fails the call, not the process', async () => {
  const proxy = createServer((client) => {
    const server = connect(Number(portOf(clone.url)), '127.0.0.1')
    for (const socket of [client, server]) socket.on('error', () => undefined)
    client.on('close', () => server.destroy())
    server.pipe(client)
    client.on('data', (chunk) => {
      if (chunk.includes('pg_is_in_recovery')) client.resetAndDestroy()
      else server.write(chunk)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = proxy.address() as AddressInfo
    await unavailable(open(withHosts(port, port)).rows('select 1'))
  } finally {
    proxy.close()
  }
})

test('a standby is refused, and without a primary calls are a 503', async () => {
  const standby = await fakePostgres(null)
  try {
    const two = open(withHosts(standby.port, portOf(clone.url)))
    assert.deepEqual(await two.rows('select 1 as n'), [{ n: 1 }])
    const dials = standby.dials()
    assert(dials > 0, 'the standby was asked')
    await Promise.all(Array.from({ length: 4 }, () => two.rows('select 1')))
    assert.equal(standby.dials(), dials, 'a known primary is not looked for again')
    const none = open(withHosts(standby.port, standby.port))
    await unavailable(none.rows('select 1'))
    await unavailable(none.transaction((tx) => tx.rows('select 1')))
  } finally {
    standby.close()
  }
})

test('an old primary gets no statement after a newer one was seen', async (t) => {
  const promoted = await fakePostgres('00000009')
  t.after(promoted.close)
  const db = open(withHosts(promoted.port, portOf(clone.url)))
  // The newer primary drops the connection during the statement, and then goes away.
  await unavailable(db.rows('select 1'))
  assert.ok(promoted.dials() > 0)
  promoted.close()
  for (let call = 0; call < 2; call += 1) {
    await unavailable(db.rows('select 1'))
    await unavailable(db.transaction((tx) => tx.rows('select 1')))
  }
})

test('a primary that goes silent is left as soon as another host is promoted', async (t) => {
  const silent = await proxied()
  const standby = await fakePostgres(null)
  t.after(standby.close)
  const db = open(withHosts(silent.port, standby.port))
  await db.rows('select 1')
  silent.stall()
  let isWaiting = true
  const waiting = db.rows('select 2').finally(() => {
    isWaiting = false
  })
  waiting.catch(() => undefined)
  standby.promote('00000009')
  // A new connection finds the new primary, which closes those to the old one.
  while (isWaiting) await unavailable(db.transaction((tx) => tx.rows('select 3')))
  const isClosed = ({ cause }: Error) => /terminated/.test((cause as Error).message)
  await assert.rejects(waiting, isClosed, 'the statement did not wait for its timeout')
})

test('on Citus, the worker that has the schema is used, whatever the timelines of others are', async (t) => {
  const [first, second] = [
    await fakePostgres('00000007', { is_citus: true }),
    await fakePostgres('00000002', { is_citus: true }),
  ]
  t.after(first.close)
  t.after(second.close)
  const hosts = withHosts(first.port, second.port)
  const db = open(withSchema(hosts, 'cell_1'))
  const noted = async (work: Promise<unknown>) => {
    const before = [first.queries(), second.queries()]
    await unavailable(work)
    return [first.queries() - (before[0] ?? 0), second.queries() - (before[1] ?? 0)]
  }
  assert.deepEqual(await noted(db.rows('select 1')), [0, 0], 'no worker has the schema')
  first.giveSchema(true)
  assert.deepEqual(await noted(db.rows('select 1')), [1, 0])
  first.giveSchema(false)
  second.giveSchema(true)
  assert.deepEqual(await noted(db.rows('select 1')), [0, 1], 'its lower timeline is another one')
  assert.deepEqual(await noted(db.transaction((tx) => tx.rows('select 1'))), [0, 1])
})

test('a commit that fails on a worker of Citus is a 503, and other internal errors are not', async () => {
  const db = open(clone.url)
  const raise = (message: string) =>
    db.run(`do $$ begin raise exception '${message}' using errcode = 'XX000'; end $$`)
  await unavailable(
    raise('could not commit transaction for shard 102008 on at least one active node'),
  )
  await assert.rejects(raise('a fault'), (cause) => !(cause instanceof DatabaseUnavailable))
})
