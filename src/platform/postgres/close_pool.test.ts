import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import { openDatabase } from './db.ts'

const clone = await cloneDatabase()
after(() => clone.drop())

test('a database is closed only when the server has closed every connection', async () => {
  const { hostname, port } = new URL(clone.url)
  let opened = 0
  let closed_by_server = 0
  // Half-open, so that the end of one side reaches the other and is counted.
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    opened += 1
    const server = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    server.on('end', () => {
      closed_by_server += 1
    })
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(clone.url)
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const db = openDatabase(url.href, { pool_size: 8 })
  await Promise.all(Array.from({ length: 8 }, () => db.rows('select pg_sleep(0.1)')))
  await db.close()
  // On a slow machine the first connection may serve a second statement.
  assert(opened > 1)
  assert.equal(closed_by_server, opened)
  proxy.close()
})
