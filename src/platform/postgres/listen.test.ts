import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { cloneDatabase } from '#test/support/database.ts'
import { databaseProxy } from '#test/support/database_proxy.ts'
import { eventually } from '#test/support/eventually.ts'
import { openDatabase } from './db.ts'

const clone = await cloneDatabase()
const proxy = await databaseProxy(clone.url)
const db = openDatabase(clone.url, { pool_size: 2 })
const subscriber = openDatabase(proxy.url, { pool_size: 1 })
after(async () => {
  await proxy.close()
  await db.close()
  await subscriber.close()
  await clone.drop()
})

const notify = (channel: string, payload: string) =>
  db.rows('select pg_notify($1, $2)', [channel, payload])

test('a subscription recovers from a silent server and signals that notifications may be lost', async () => {
  const received: string[] = []
  const stop = await subscriber.listen('florin_silence', (payload) => received.push(payload))
  await notify('florin_silence', 'before')
  assert.ok(await eventually(async () => received.includes('before'), { within_ms: 20_000 }))
  assert.deepEqual(received, ['before'])
  proxy.stall()
  await notify('florin_silence', 'lost')
  // Longer than a heartbeat and its response may take.
  await wait(7_000)
  await proxy.heal()
  assert.ok(await eventually(async () => received.includes(''), { within_ms: 10_000 }))
  await notify('florin_silence', 'after')
  assert.ok(await eventually(async () => received.includes('after'), { within_ms: 20_000 }))
  await stop()
})

test('a server that is down at first is subscribed to when it starts', async () => {
  await proxy.cut()
  const received: string[] = []
  const stop = await subscriber.listen('florin_late', (payload) => received.push(payload))
  await proxy.heal()
  const isReceived = async () => {
    await notify('florin_late', 'hello')
    return received.includes('hello')
  }
  assert.ok(await eventually(isReceived, { within_ms: 20_000 }))
  await stop()
})

test('the subscriptions of a database share one connection, and each gets its own channel', async () => {
  const received: string[] = []
  const record = (name: string) => (payload: string) => void received.push(`${name} ${payload}`)
  const stops = await Promise.all([
    db.listen('florin_one', record('one')),
    db.listen('florin_two', record('two')),
    db.listen('florin_two', record('also two')),
  ])
  const count = async () => {
    const rows = await db.rows(
      `select from pg_stat_activity
        where datname = current_database() and query like 'listen florin_one%'`,
    )
    return rows.length
  }
  await notify('florin_one', 'a')
  await notify('florin_two', 'b')
  const isComplete = async () => received.length === 3
  assert.ok(await eventually(isComplete, { within_ms: 10_000 }), String(received))
  assert.deepEqual(received.toSorted(), ['also two b', 'one a', 'two b'])
  assert.equal(await count(), 1)

  await stops[1]?.()
  await notify('florin_two', 'c')
  assert.ok(await eventually(async () => received.includes('also two c'), { within_ms: 10_000 }))
  assert.equal(received.includes('two c'), false)
  await Promise.all(stops.map((stop) => stop()))
  assert.ok(await eventually(async () => (await count()) === 0, { within_ms: 10_000 }))
})

test('a database that is listened to again while its last subscription stops gets notifications', async () => {
  const received: string[] = []
  const stop = await db.listen('florin_again', () => undefined)
  const stopping = stop()
  const again = await db.listen('florin_again', (payload) => received.push(payload))
  await stopping
  await notify('florin_again', 'after')
  assert.ok(await eventually(async () => received.includes('after'), { within_ms: 10_000 }))
  await again()
})

test('a subscription that is made while the connection opens works once it resolves', async () => {
  const received: string[] = []
  const early = db.listen('florin_early', () => undefined)
  const stopLate = await db.listen('florin_late', (payload) => received.push(payload))
  await notify('florin_late', 'immediately')
  assert.ok(await eventually(async () => received.includes('immediately'), { within_ms: 10_000 }))
  await Promise.all([stopLate(), early.then((stopEarly) => stopEarly())])
})
