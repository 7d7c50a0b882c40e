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
const silent = openDatabase(proxy.url, { pool_size: 1 })
after(async () => {
  await proxy.close()
  await db.close()
  await silent.close()
  await clone.drop()
})

test('both ends of a connection send TCP keepalives within seconds', async () => {
  const [row] = await db.rows<Record<string, string>>(
    `select current_setting('tcp_keepalives_idle') as idle,
            current_setting('tcp_keepalives_interval') as interval,
            current_setting('tcp_keepalives_count') as count,
            current_setting('tcp_user_timeout') as unacknowledged`,
  )
  assert.deepEqual(row, { idle: '5', interval: '2', count: '3', unacknowledged: '10000' })
})

test('the row locks of a node that goes silent in a transaction are free within 15 seconds', async () => {
  await db.run('create table jars (name text primary key, amount int not null)')
  await db.run(`insert into jars values ('a', 1)`)
  const locked = silent.transaction(async (tx) => {
    await tx.run(`update jars set amount = 2 where name = 'a'`)
    proxy.stall()
    await wait(12_000)
    await tx.run(`update jars set amount = 3 where name = 'a'`)
  })
  const failed = assert.rejects(locked)
  await wait(500)
  const update = () =>
    db.run(`update jars set amount = amount + 10 where name = 'a'`).then(
      () => true,
      () => false,
    )
  assert.ok(await eventually(update, { within_ms: 15_000 }), 'the row stays locked')
  assert.deepEqual(await db.rows('select amount from jars'), [{ amount: 11 }])
  await failed
})
