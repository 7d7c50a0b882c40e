import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pathOf, queryOf, shapes } from '#test/support/contract.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)
const { key } = await createKey(url, bearer)
const { port } = new URL(url)

const head = (...lines: readonly string[]) =>
  [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...lines,
    '\r\n',
  ].join('\r\n')

const ping = (id: number, params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params })

const whole = (body: string) => head(`Content-Length: ${body.length}`) + body

const chunked = (body: string) =>
  `${head('Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** One connection for all of it, and what came back on it so far. */
function openSocket() {
  const socket = connect(Number(port), '127.0.0.1')
  let text = ''
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  const answers = async (count: number) => {
    const ids = () => [...text.matchAll(/"id":(\d+|null)/g)].map(([, id]) => id)
    assert(await eventually(async () => ids().length >= count, { within_ms: 20_000 }), text)
    return ids().join(' ')
  }
  return { socket, statuses, answers, text: () => text }
}

test('however the bytes of a message come, on one connection each is answered in its turn', async () => {
  const { socket, statuses, answers } = openSocket()
  socket.write(whole(ping(1)))
  await answers(1)
  socket.write(whole(ping(2)) + whole(ping(3)) + chunked(ping(4)) + whole(ping(5)))
  await answers(5)
  const { length } = ping(6)
  socket.write(head(`Content-Length: ${length}`))
  await wait(20)
  for (const byte of ping(6)) {
    socket.write(byte)
    await wait(1)
  }
  await answers(6)
  socket.write(whole(ping(7, { filler: 'a'.repeat(1_000_000) })))
  await answers(7)
  socket.write(whole('') + whole('{') + chunked('[') + whole(ping(8)))
  assert.equal(await answers(11), '1 2 3 4 5 6 7 null null null 8')
  assert.deepEqual(statuses(), [200, 200, 200, 200, 200, 200, 200, 400, 400, 400, 200])
  socket.destroy()
})

test('a message of more than 25 MB is a 413, by its word or by its bytes', async () => {
  const megabyte = 'a'.repeat(1024 * 1024)
  const chunk = `${megabyte.length.toString(16)}\r\n${megabyte}\r\n`
  for (const bytes of [
    head(`Content-Length: ${26 * 1024 * 1024}`),
    `${head('Transfer-Encoding: chunked')}${chunk.repeat(26)}0\r\n\r\n`,
  ]) {
    const { socket, text } = openSocket()
    socket.write(bytes)
    assert(await eventually(async () => text().includes('"error"'), { within_ms: 20_000 }), text())
    assert.match(text(), /^HTTP\/1\.1 413 /)
    assert.match(text(), /"error":"payload_too_large"/)
    socket.destroy()
  }
})

test('a sender that is still sending when its request is refused receives the error', async () => {
  const body = Buffer.alloc(60 * 1024 * 1024, ' ')
  for (let at = 0; at < 4; at += 1) {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
    assert.equal(reply.status, 413)
    assert.match(await reply.text(), /"error":"payload_too_large"/)
  }
})

/** The status and error code of a request of which only the head is sent. */
async function refusedUnread(method: string, path: string, lines: readonly string[]) {
  const { socket, text } = openSocket()
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('\r\n')}\r\n\r\n`)
  assert(await eventually(async () => text().includes('"error"'), { within_ms: 10_000 }))
  socket.destroy()
  return [/^HTTP\/1\.1 (\d+)/.exec(text())?.[1], /"error":"(\w+)"/.exec(text())?.[1]].join(' ')
}

const LARGE = ['Content-Type: application/json', 'Content-Length: 65537']

test('without a valid bearer a body above 64 KB is a 413 on every route, before a byte of it is read', async () => {
  const nobody = `flk_test_${'x'.repeat(60)}`
  for (const operation of shapes.filter(({ method }) => method === 'POST' || method === 'PATCH')) {
    const path = `${pathOf(operation)}${queryOf(operation)}`
    const refusal = await refusedUnread(operation.method, path, LARGE)
    assert.equal(refusal, '413 payload_too_large', operation.name)
  }
  const others = ['/mcp', '/oauth/token', '/oauth/revoke', '/oauth/register', '/three_ds/x/y']
  others.push('/processor/x/authorizations', '/processor/x/threeds', '/oauth/interaction/x')
  others.push('/operator/v1/disputes/x/close', '/sandbox/v1/clock/advance')
  for (const path of others) {
    assert.equal(await refusedUnread('POST', path, LARGE), '413 payload_too_large', path)
    const guess = [...LARGE, `Authorization: Bearer ${nobody}`]
    assert.equal(await refusedUnread('POST', path, guess), '413 payload_too_large', path)
  }
})

test('64 KB are read from anybody, and 25 MB from a caller, also in chunks', async () => {
  const body = (bytes: number) => `{"zzz":"${'a'.repeat(bytes - 10)}"}`
  const stranger = await send(url, 'POST', '/v1/sessions', { raw: body(65_536) })
  assert.deepEqual([stranger.status, stranger.body['error']], [400, 'invalid_request'])
  const large = await send(url, 'POST', '/v1/api_keys', { bearer, raw: body(26_214_400) })
  assert.deepEqual([large.status, large.body['error']], [400, 'invalid_request'])
  for (const [bytes, status] of [
    [65_536, 400],
    [65_537, 413],
  ] as const) {
    const stream = new Blob([body(bytes)]).stream()
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit
    assert.equal((await fetch(`${url}/v1/sessions`, init)).status, status)
  }
})

test('unfinished bodies of one address hold at most 8 MB together, and the next is a 503', async () => {
  const lines = ['POST /v1/sessions HTTP/1.1', 'Host: x', 'Content-Type: application/json']
  const slow = Array.from({ length: 140 }, () => openSocket())
  for (const { socket } of slow) {
    socket.write(`${lines.join('\r\n')}\r\nContent-Length: 65536\r\n\r\n${' '.repeat(65_000)}`)
  }
  const refused = () => slow.filter(({ text }) => text().startsWith('HTTP/1.1 503 ')).length
  assert(await eventually(async () => refused() >= 10, { within_ms: 20_000 }), String(refused()))
  assert.match(slow.map(({ text }) => text()).join(''), /retry-after: 1\r\n/i)
  for (const { socket } of slow) socket.destroy()
  const freed = async () => {
    const filler = ' '.repeat(60_000)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const stream = new Blob([`{"a":1${filler}}`]).stream()
    const reply = await fetch(`${url}/v1/sessions`, {
      ...init,
      body: stream,
      duplex: 'half',
    } as RequestInit)
    return reply.status === 400
  }
  assert(await eventually(freed, { within_ms: 20_000 }))
})

test('a transfer coding beside chunked is refused and the connection closed', async () => {
  for (const coding of ['gzip, chunked', 'identity, chunked', 'chunked, chunked']) {
    const { socket, text } = openSocket()
    const closed = once(socket, 'close')
    socket.write(`${head(`Transfer-Encoding: ${coding}`)}2\r\n{}\r\n0\r\n\r\n`)
    await closed
    assert.match(text(), /^HTTP\/1\.1 400 [\s\S]*"error":"invalid_request"/, coding)
  }
})
