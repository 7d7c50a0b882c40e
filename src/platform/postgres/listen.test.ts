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
