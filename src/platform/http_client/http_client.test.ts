import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  EgressFailed,
  type EgressReason,
  makeHttpClient,
  type OutgoingRequest,
} from './http_client.ts'

const neverLookup = () => Promise.reject(new Error('a test looked up a name'))
const out = makeHttpClient({ allow_loopback_http: true, lookup: neverLookup })

const request: OutgoingRequest = {
  method: 'POST',
  url: 'http://127.0.0.1/',
  headers: { 'content-type': 'application/json' },
  body: '{}',
  timeout_ms: 5000,
  response_bytes_max: 65_536,
}

/** Starts it on loopback and drops every connection at the end, including those that hang. */
async function listen(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1`
}

const receiver = (t: TestContext, response: RequestListener) => listen(t, createServer(response))
const rawReceiver = (t: TestContext, response: (socket: Socket) => void) =>
  listen(t, createTcp(response))

function failsWith(reason: EgressReason, over: Partial<OutgoingRequest>): Promise<void> {
  return assert.rejects(out.send({ ...request, ...over }), (error) => {
    assert.ok(error instanceof EgressFailed, String(error))
    assert.equal(error.reason, reason, String(error.cause))
    assert.doesNotMatch(error.message, /hook|127\.0\.0\.1/)
    return true
  })
}

test('sends the request and returns status, headers and bytes', async (t) => {
  const seen: unknown[] = []
  const url = await receiver(t, (incoming, response) => {
    const { method, url: path, headers } = incoming
    seen.push({ method, path, host: headers.host, encoding: headers['accept-encoding'] })
    incoming.on('data', (chunk) => seen.push(String(chunk)))
    incoming.on('end', () => response.writeHead(202, { 'X-A': ['1', '2'] }).end('thanks'))
  })
  const response = await out.send({ ...request, url, body: '{"a":1}' })
  assert.equal(response.status, 202)
  assert.equal(response.headers['x-a'], '1, 2')
  assert.equal(Buffer.from(response.body).toString(), 'thanks')
  const { host } = new URL(url)
  assert.deepEqual(seen, [
    { method: 'POST', path: '/hook?a=1', host, encoding: 'identity' },
    '{"a":1}',
  ])
})

test('localhost is this machine, without a DNS lookup', async (t) => {
  const url = await receiver(t, (_, response) => response.end())
  const response = await out.send({ ...request, url: url.replace('127.0.0.1', 'localhost') })
  assert.equal(response.status, 200)
})

test('a redirect is returned, not followed', async (t) => {
  let followed = 0
  const inside = await receiver(t, (_, response) => {
    followed += 1
    response.end()
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await receiver(t, (_, response) =>
      response.writeHead(status, { location: inside }).end(),
    )
    const response = await out.send({ ...request, url })
    assert.deepEqual([response.status, response.headers['location']], [status, inside])
  }
  assert.equal(followed, 0)
})

test('an error status is a response, not an exception', async (t) => {
  const url = await receiver(t, (_, response) =>
    response.writeHead(503, { 'retry-after': '120' }).end('busy'),
  )
  const response = await out.send({ ...request, url })
  assert.deepEqual([response.status, response.headers['retry-after']], [503, '120'])
})

for (const framing of ['content-length', 'chunked']) {
  test(`1 GB is cut at the limit and the rest is not read (${framing})`, async (t) => {
    let written = 0
    const url = await receiver(t, (_, response) => {
      if (framing === 'content-length') response.setHeader('content-length', 2 ** 30)
      const mebibyte = Buffer.alloc(2 ** 20, 'x')
      const pour = () => {
        while (written < 2 ** 30 && !response.destroyed) {
          written += mebibyte.length
          if (!response.write(mebibyte)) return void response.once('drain', pour)
        }
      }
      pour()
    })
    const response = await out.send({ ...request, url, response_bytes_max: 1000 })
    assert.equal(response.body.length, 1000)
    t.diagnostic(`the receiver had written ${written / 2 ** 20} MiB`)
    // Only the bytes that fit the kernel's buffers were written before we disconnected.
    assert.ok(written < 2 ** 26, `${written}`)
  })
}

test('a body of exactly the limit is complete', async (t) => {
  const url = await receiver(t, (_, response) => response.end('x'.repeat(1000)))
  const response = await out.send({ ...request, url, response_bytes_max: 1000 })
  assert.equal(response.body.length, 1000)
})

test('a gzip bomb is not decompressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20))
  const url = await receiver(t, (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  )
  const response = await out.send({ ...request, url, response_bytes_max: 2 ** 20 })
  assert.deepEqual(Buffer.from(response.body), bomb)
})

test('a body sent one byte per second ends at the deadline', async (t) => {
  const url = await receiver(t, (_, response) => {
    response.write('x')
    const drip = setInterval(() => response.write('x'), 1000)
    response.on('close', () => clearInterval(drip))
  })
  const started_at = performance.now()
  await failsWith('timeout', { url, timeout_ms: 1500 })
  const took_ms = performance.now() - started_at
  assert.ok(took_ms > 1400 && took_ms < 3000, `${took_ms}`)
})

test('headers sent byte by byte end at the deadline', async (t) => {
  const url = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    const drip = setInterval(() => socket.write('x'), 100)
    socket.on('close', () => clearInterval(drip))
  })
  await failsWith('timeout', { url, timeout_ms: 600 })
})

test('endless interim responses end at the deadline', async (t) => {
  const url = await rawReceiver(t, (socket) => {
    const drip = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  await failsWith('timeout', { url, timeout_ms: 500 })
})

test('fifty hanging servers do not delay a healthy one', async (t) => {
  const hanging = await receiver(t, () => undefined)
  const healthy = await receiver(t, (_, response) => response.end('ok'))
  const stuck = Array.from({ length: 50 }, () =>
    failsWith('timeout', { url: hanging, timeout_ms: 1500 }),
  )
  const started_at = performance.now()
  const response = await out.send({ ...request, url: healthy })
  assert.equal(response.status, 200)
  const took_ms = performance.now() - started_at
  assert.ok(took_ms < 1400, `${took_ms}`)
  await Promise.all(stuck)
})

test('a server that closes early is a reset, at whatever point', async (t) => {
  const at_once = await rawReceiver(t, (socket) => socket.destroy())
  const after_request = await rawReceiver(t, (socket) => {
    socket.once('data', () => socket.resetAndDestroy())
  })
  const in_body = await receiver(t, (_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('x')
    setTimeout(() => response.destroy(), 50)
  })
  const in_chunks = await receiver(t, (_, response) => {
    response.write('x')
    setTimeout(() => response.destroy(), 50)
  })
  for (const url of [at_once, after_request, in_body, in_chunks]) await failsWith('reset', { url })
})

test('a server that does not speak HTTP is a protocol failure', async (t) => {
  const speeches = [
    'SSH-2.0-OpenSSH_9.6\r\n',
    'HTTP/1.1 abc\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  ]
  for (const speech of speeches) {
    const url = await rawReceiver(t, (socket) => {
      socket.once('data', () => socket.write(speech))
    })
    await failsWith('protocol', { url })
  }
})

test('a response that arrives before the request is not mixed up with the next one', async (t) => {
  const url = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n')
  })
  const outcome = await out.send({ ...request, url }).catch((error: unknown) => error)
  const isAnswer = typeof outcome === 'object' && outcome !== null && 'status' in outcome
  assert.ok(isAnswer || outcome instanceof EgressFailed, String(outcome))
  const other = await receiver(t, (_, response) => response.end('its own'))
  const { body } = await out.send({ ...request, url: other, response_bytes_max: 100 })
  assert.equal(Buffer.from(body).toString(), 'its own')
})

test('an unrequested upgrade and a repeated Content-Length are protocol failures', async (t) => {
  const speeches = [
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  ]
  for (const speech of speeches) {
    const url = await rawReceiver(t, (socket) => {
      socket.once('data', () => socket.write(speech))
    })
    await assert.rejects(out.send({ ...request, url }), EgressFailed)
  }
})

test('a closed port is a connect failure', async (t) => {
  const server = createTcp()
  const url = await listen(t, server)
  server.close()
  await once(server, 'close')
  await failsWith('connect', { url })
})

test('the caller cannot set the Host header', async () => {
  for (const name of ['Host', 'Connection', 'transfer-encoding']) {
    await assert.rejects(out.send({ ...request, headers: { [name]: 'x' } }), /broken claim/)
  }
})

test('a header with a line break is never sent', async (t) => {
  const seen: string[] = []
  const url = await receiver(t, (incoming, response) => {
    seen.push(JSON.stringify(incoming.headers))
    response.end()
  })
  await failsWith('protocol', { url, headers: { 'x-a': 'a\r\nx-b: c' } })
  assert.deepEqual(seen, [])
})

test('no socket stays open after a request', async (t) => {
  const open = new Set<Socket>()
  const server = createServer((_, response) => response.end('x'.repeat(100_000)))
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  const url = await listen(t, server)
  for (const response_bytes_max of [0, 10, 1_000_000]) {
    await out.send({ ...request, url, response_bytes_max })
  }
  for (let turn = 0; open.size > 0 && turn < 100; turn += 1) await new Promise(setImmediate)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(open.size, 0)
})
