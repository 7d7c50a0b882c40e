import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { EgressFailed, makeHttpClient, type OutgoingRequest } from './http_client.ts'
import { PER_ORIGIN_MAX } from './kept_connections.ts'

const request: OutgoingRequest = {
  method: 'POST',
  url: '',
  headers: {},
  body: '{}',
  timeout_ms: 2_000,
  response_bytes_max: 1_000,
  reuse_connection: true,
}

async function receiver(t: TestContext, response: RequestListener) {
  const sockets: Socket[] = []
  const server = createServer({ keepAliveTimeout: 60_000 }, response)
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets }
}

test('one connection serves consecutive requests, only with reuse_connection', async (t) => {
  const { url, sockets } = await receiver(t, (_, response) => response.end('ok'))
  const out = makeHttpClient({ allow_loopback_http: true })
  for (let at = 0; at < 5; at += 1) await out.send({ ...request, url })
  assert.equal(sockets.length, 1)
  await out.send({ ...request, url, reuse_connection: false })
  assert.equal(sockets.length, 2)
})

test('concurrent requests use separate connections', async (t) => {
  const { url, sockets } = await receiver(t, (_, response) => response.end('ok'))
  const out = makeHttpClient({ allow_loopback_http: true })
  await Promise.all(Array.from({ length: 8 }, () => out.send({ ...request, url })))
  assert.equal(sockets.length, 8)
})

test('requests are sent although as many as connections are kept hang', async (t) => {
  const { url } = await receiver(t, (incoming, response) => {
    if (incoming.url !== '/hang') response.end('ok')
  })
  const out = makeHttpClient({ allow_loopback_http: true })
  const hurry = new AbortController()
  const slow = { ...request, timeout_ms: 60_000, signal: hurry.signal }
  const hanging = Array.from({ length: PER_ORIGIN_MAX }, () =>
    out.send({ ...slow, url: `${url}hang` }),
  )
  const { status } = await out.send({ ...slow, url })
  assert.equal(status, 200)
  hurry.abort()
  for (const { status } of await Promise.allSettled(hanging)) assert.equal(status, 'rejected')
})

test('a kept connection that was closed is replaced without an error', async (t) => {
  let served = 0
  const { url, sockets } = await receiver(t, (incoming, response) => {
    served += 1
    // The second request on the first connection finds it shut.
    if (served === 2) return void incoming.socket.destroy()
    response.end('ok')
  })
  const out = makeHttpClient({ allow_loopback_http: true })
  await out.send({ ...request, url })
  const response = await out.send({ ...request, url })
  assert.equal(response.status, 200)
  assert.deepEqual([sockets.length, served], [2, 3])
})

test('a request whose response is cut off on a kept connection is not sent again', async (t) => {
  let served = 0
  const { url } = await receiver(t, (incoming, response) => {
    served += 1
    if (served === 1) return response.end('ok')
    response.writeHead(200, { 'content-length': 100 }).write('ok')
    setTimeout(() => incoming.socket.destroy(), 20)
  })
  const out = makeHttpClient({ allow_loopback_http: true })
  await out.send({ ...request, url })
  await assert.rejects(out.send({ ...request, url }), (error) => {
    return error instanceof EgressFailed && error.reason === 'reset'
  })
  assert.equal(served, 2)
})

test('a new connection that is closed is a reset', async (t) => {
  const { url } = await receiver(t, (incoming) => void incoming.socket.destroy())
  const out = makeHttpClient({ allow_loopback_http: true })
  await assert.rejects(out.send({ ...request, url }), (error) => {
    return error instanceof EgressFailed && error.reason === 'reset'
  })
})

test('no connection is kept after a truncated, closing or timed-out response', async (t) => {
  const answers: RequestListener[] = [
    (_, response) => response.end('x'.repeat(5_000)),
    (_, response) => response.setHeader('connection', 'close').end('ok'),
    (_, response) => void response.write('never ends'),
    (_, response) => response.end('ok'),
  ]
  let at = 0
  const { url, sockets } = await receiver(t, (incoming, response) =>
    answers[at++]?.(incoming, response),
  )
  const out = makeHttpClient({ allow_loopback_http: true })
  await out.send({ ...request, url })
  await out.send({ ...request, url })
  await assert.rejects(out.send({ ...request, url, timeout_ms: 200 }))
  await out.send({ ...request, url })
  assert.equal(sockets.length, 4)
})

test('an abort signal ends a request before its deadline', async (t) => {
  const { url } = await receiver(t, () => undefined)
  const out = makeHttpClient({ allow_loopback_http: true })
  const hurry = new AbortController()
  const sent = out.send({ ...request, url, timeout_ms: 60_000, signal: hurry.signal })
  hurry.abort()
  await assert.rejects(sent, (error) => error instanceof EgressFailed)
})
