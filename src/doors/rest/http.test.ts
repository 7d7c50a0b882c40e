import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { rowCounts } from '#test/support/row_counts.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime, tasks } = await startTestService()
const { bearer } = await openAccount(url)
const { port } = new URL(url)

// Lets background tasks finish their first writes.
await tasks.runAll()
const before = await rowCounts(runtime.db)
type RawReply = { status: number; head: string; body: Record<string, unknown> }

/** Bytes as they are, on a socket of their own; what came back until it was closed. */
async function raw(bytes: string | Buffer): Promise<RawReply> {
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.write(bytes)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const answered = async () => {
    for (let at = 0; at < 250 && !/\r\n\r\n[\s\S]/.test(text); at += 1) await wait(20)
  }
  await Promise.race([closed, answered()])
  socket.destroy()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0)
  return { status, head, body: body.startsWith('{') ? JSON.parse(body) : {} }
}

const head = (...lines: readonly string[]) =>
  `${['GET /v1/accounts/me HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n`

function assertWhole(reply: RawReply): void {
  assert.match(String(reply.body['request_id']), /^req_/, reply.head)
  assert.match(reply.head, /^request-id: req_/im)
  assert.match(reply.head, /^ratelimit-policy: "/im)
  assert.match(reply.head, /^ratelimit: "sustained"/im)
  assert.equal(typeof reply.body['message'], 'string')
}

test('a request that is not HTTP gets a 400 in the usual shape', async () => {
  const malformed = [
    'nonsense\r\n\r\n',
    'GET\r\n\r\n',
    'GET /v1/accounts/me HTTP/9.9\r\n\r\n',
    '\u0016\u0003\u0001 a TLS greeting\r\n\r\n',
    head('No colon here'),
    head('Bad\u0000Name: x'),
    head('Content-Length: -1'),
    head('Content-Length: 5', 'Content-Length: 6'),
    head('Content-Length: 5', 'Transfer-Encoding: chunked'),
    head('Transfer-Encoding: nonsense', 'Transfer-Encoding: chunked, x'),
    `POST /v1/sessions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`,
  ]
  for (const bytes of malformed) {
    const reply = await raw(bytes)
    assert.equal(reply.status, 400, JSON.stringify(bytes))
    assert.equal(reply.body['error'], 'invalid_request')
    assertWhole(reply)
  }
})

test('a flood of headers is refused and the others are served', async () => {
  const long = await raw(head(`X-Long: ${'a'.repeat(20_000)}`))
  assert.equal(long.status, 431)
  assertWhole(long)
  const many = await raw(
    head(...Array.from({ length: 1_500 }, (_, at) => `X-Header-${at}: abcdef`)),
  )
  assert.equal(many.status, 431)
  assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer })).status, 200)
})

test('a URL that is too long is refused as too long, not as malformed', async () => {
  const reply = await raw(head().replace('/accounts/me', `/cards?name=${'a'.repeat(20_000)}`))
  assert.equal(reply.status, 431)
  assert.equal(reply.body['message'], 'The URL and headers can have at most 16 KB.')
})

test('without a Host, with a wrong one and with an address as the target it is the same service', async () => {
  const authorization = `Authorization: Bearer ${bearer}`
  const target = `GET http://evil.example/v1/accounts/me HTTP/1.1\r\nHost: evil.example\r\n`
  const wrong = await raw(head('X: y', authorization).replace('Host: x', 'Host: evil.example'))
  assert.equal(wrong.status, 200)
  assert.ok(!wrong.head.includes('evil'))
  const none = await raw(head(authorization).replace('Host: x\r\n', ''))
  assert.equal(none.status, 400)
  assert.equal(none.body['error'], 'invalid_request')
  assertWhole(none)
  const old = head(authorization).replace('Host: x\r\n', '').replace('HTTP/1.1', 'HTTP/1.0')
  assert.equal((await raw(old)).status, 200)
  const absolute = await raw(`${target}${authorization}\r\n\r\n`)
  assert.equal(absolute.status, 200)
})

test('a path that cannot be decoded is refused in the shape of every refusal', async () => {
  for (const path of ['/v1/cards/%', '/v1/cards/%zz', '/v1/cards/%c3%28', '/v1/%E0%A4%A']) {
    const reply = await raw(
      head(`Authorization: Bearer ${bearer}`).replace('/v1/accounts/me', path),
    )
    assert.equal(reply.status, 400, path)
    assert.equal(reply.body['error'], 'invalid_request')
    assertWhole(reply)
  }
})

test('any unknown ID is a 404, whatever its content and length', async () => {
  const odd = ['%00', 'card_%00', "'%20or%201=1--", '__proto__', '%F0%9F%98%80', 'x'.repeat(900)]
  for (const id of odd) {
    const reply = await send(url, 'GET', `/v1/cards/${id}`, { bearer })
    assertRefused(reply, 404, 'not_found')
  }
  const others: [string, string][] = [
    ['POST', '/three_ds/%00/x'],
    ['GET', '/operator/v1/disputes/%00/evidence/x'],
    ['DELETE', '/oauth/grants/x%00'],
    ['POST', '/sandbox/v1/topups/%00/confirm'],
    ['GET', '/files/disputes/%00/evidence/x'],
  ]
  for (const [method, path] of others) {
    assertRefused(await send(url, method, path, { bearer }), 404, 'not_found')
  }
  const long = await raw(head().replace('/v1/accounts/me', `/v1/cards/${'a'.repeat(5_000)}`))
  assert.equal(long.status, 404)
  assert.equal(long.body['error'], 'not_found')
  assertWhole(long)
})

test('an Expect header other than 100-continue is ignored', async () => {
  const served = await raw(head(`Authorization: Bearer ${bearer}`, 'Expect: the-moon'))
  assert.equal(served.status, 200)
})

test('a body of more than 25 MB is a 413, by its word or by its bytes', async () => {
  const announced = await raw(
    `POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${26 * 1024 * 1024}\r\n\r\n`,
  )
  assert.equal(announced.status, 413)
  assert.equal(announced.body['error'], 'payload_too_large')
  assertWhole(announced)
  const chunk = `${(1024 * 1024).toString(16)}\r\n${'a'.repeat(1024 * 1024)}\r\n`
  const streamed = await raw(
    `POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(26)}`,
  )
  assert.equal(streamed.status, 413)
  assertWhole(streamed)
})

test('a client that is still sending a refused body can read the response and continue', async () => {
  const mebibyte = Buffer.alloc(1024 * 1024, ' ')
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  const receives = (pattern: RegExp) =>
    eventually(async () => pattern.test(received), { within_ms: 20_000 })
  socket.write(
    `POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${30 * mebibyte.length}\r\n\r\n`,
  )
  assert(await receives(/^HTTP\/1.1 413 [\s\S]*payload_too_large/), received)
  for (let sent = 0; sent < 30; sent += 1) {
    await new Promise((resolve) => socket.write(mebibyte, resolve))
  }
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  assert(await receives(/HTTP\/1.1 200 /), received)
  socket.destroy()
})

test('24 MB of a string that is no field is read and refused, and the service answers meanwhile', async () => {
  const big = send(url, 'POST', '/v1/api_keys', {
    bearer,
    raw: `{"zzz":"${'a'.repeat(24_000_000)}"}`,
  })
  const quick = await send(url, 'GET', '/v1/accounts/me', { bearer })
  assert.equal(quick.status, 200)
  assertRefused(await big, 400, 'invalid_request')
})

test('a body of another type is a 415, also where the type makes no sense', async () => {
  const types = ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application']
  for (const type of [
    ...types,
    'json',
    'application/json/x',
    '*/*',
    'application/x-www-form-urlencoded',
  ]) {
    const headers = { 'content-type': type }
    const reply = await send(url, 'POST', '/v1/api_keys', { bearer, raw: '{}', headers })
    assertRefused(reply, 415, 'unsupported_media_type')
  }
  const none = await raw(
    `POST /v1/api_keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n` +
      'Content-Length: 2\r\n\r\n{}',
  )
  assert.equal(none.status, 415)
  assertWhole(none)
})

test('a compressed body is a 415 that says so', async () => {
  const compressed = gzipSync('{}')
  for (const coding of ['gzip', 'br', 'GZIP', 'gzip, identity']) {
    const headers = { 'content-encoding': coding }
    const reply = await send(url, 'POST', '/v1/api_keys', { bearer, raw: compressed, headers })
    assertRefused(reply, 415, 'unsupported_media_type')
    assert.match(reply.body.message, /^Send the body uncompressed\./)
  }
})

test('a body is refused where an operation takes none, so no filter in it is ignored', async () => {
  for (const content of ['{"status":"frozen"}', '{}', '"id"', '{bad']) {
    const reply = await raw(
      `GET /v1/cards HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n${content}`,
    )
    const isEmpty = content === '{}'
    assert.equal(reply.status, isEmpty ? 200 : 400, content)
    if (!isEmpty) assert.equal(reply.body['error'], 'invalid_request')
  }
  const chunked = await raw(
    `GET /v1/cards HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n` +
      'Transfer-Encoding: chunked\r\n\r\n13\r\n{"status":"frozen"}\r\n0\r\n\r\n',
  )
  assert.equal(chunked.status, 400)
  const other = { session_id: 'sess_of_another_device' }
  const refused = await send(url, 'DELETE', '/v1/sessions', { bearer, body: other })
  assertRefused(refused, 400, 'invalid_request')
  assert.deepEqual(refused.body.details, [{ field: 'session_id', message: 'is not recognized' }])
  for (const [content, code] of [
    ['[]', 'invalid_request'],
    ['{bad', 'invalid_json'],
  ] as const) {
    const reply = await send(url, 'DELETE', '/v1/sessions', { bearer, raw: content })
    assertRefused(reply, 400, code)
  }
  assert.equal((await send(url, 'GET', '/v1/cards', { bearer })).status, 200, 'still signed in')
  const unknown = await send(url, 'DELETE', '/v1/webhooks/wh_x', { bearer, body: {} })
  assertRefused(unknown, 404, 'not_found')
})

test('bytes that are no text are refused as no JSON', async () => {
  for (const bytes of [
    [0xff],
    [0xc3, 0x28],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0],
    [0x22, 0, 0x22],
  ]) {
    const reply = await send(url, 'POST', '/v1/api_keys', { bearer, raw: Uint8Array.from(bytes) })
    assertRefused(reply, 400, 'invalid_json')
  }
})

test('hostile nesting and strings cost little and are refused', async () => {
  const hostile = [
    '['.repeat(2_000_000),
    '{"a":'.repeat(500_000),
    `{"name":"${'\\"'.repeat(1_000_000)}`,
    `{"name":${'9'.repeat(2_000_000)}}`,
    `{"notifications":{"low_balance_threshold_usd":0.${'0'.repeat(2_000_000)}1}}`,
  ]
  for (const text of hostile) {
    const began = performance.now()
    const reply = await send(url, 'PATCH', '/v1/accounts/me', { bearer, raw: text })
    assertRefused(reply, 400, 'invalid_json')
    assert.ok(performance.now() - began < 5_000)
  }
})

test('amounts that a float cannot hold, or with too many decimals, are a 422 with the field', async () => {
  for (const text of ['1e400', '0.1234567', '-0', '9007199254740993', '-1', '0.001', '1e-7']) {
    const reply = await send(url, 'PATCH', '/v1/accounts/me', {
      bearer,
      raw: `{"notifications":{"low_balance_threshold_usd":${text}}}`,
    })
    assertRefused(reply, 422, 'invalid_amount')
    const details = reply.body['details'] as { field: string }[]
    assert.equal(details[0]?.field, 'notifications.low_balance_threshold_usd')
  }
  for (const text of ['"5"', 'true', '[5]', '{}']) {
    const reply = await send(url, 'PATCH', '/v1/accounts/me', {
      bearer,
      raw: `{"notifications":{"low_balance_threshold_usd":${text}}}`,
    })
    assertRefused(reply, 400, 'invalid_request')
  }
})

test('invalid cursors, limits and timestamps are a 400 that names them', async () => {
  const list = (query: string) => send(url, 'GET', `/v1/audit_log?${query}`, { bearer })
  for (const cursor of ['x', 'AAAA', 'null', '..', '%F0%9F%98%80']) {
    assertRefused(await list(`cursor=${cursor}`), 400, 'invalid_cursor')
  }
  assertRefused(await list('cursor=%00'), 400, 'invalid_request')
  assertRefused(await list('cursor='), 400, 'invalid_cursor')
  assertRefused(await list(`cursor=${'a'.repeat(513)}`), 400, 'invalid_cursor')
  for (const limit of [
    '0',
    '101',
    '-1',
    '1.5',
    '1e400',
    '9007199254740993',
    'x',
    '',
    '-0',
    '1e1000',
  ]) {
    assertRefused(await list(`limit=${limit}`), 400, 'invalid_request')
  }
  for (const timestamp of ['x', '2026-02-30T00:00:00Z', '2016-12-31T23:59:60Z', '2026-11-15', '']) {
    assertRefused(await list(`created_gte=${timestamp}`), 400, 'invalid_request')
  }
  assertRefused(await list('order=sideways'), 400, 'invalid_request')
  assert.equal((await list('limit=1e1')).status, 200)
})

test('a caller that goes away in the middle of its body leaves nothing and harms nobody', async () => {
  for (const sent of ['', '{', '{"name":"hal', '{"name":"half"}']) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `POST /v1/api_keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 100\r\n\r\n${sent}`,
    )
    await wait(30)
    socket.destroy()
  }
  assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer })).status, 200)
})

test('two hundred callers that send one byte and wait do not keep others from being served', async () => {
  const slow = Array.from({ length: 200 }, () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('P')
    return socket
  })
  const began = performance.now()
  assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer })).status, 200)
  assert.ok(performance.now() - began < 2_000)
  for (const socket of slow) socket.destroy()
})

test('nothing of all that was refused was written', async () => {
  assert.deepEqual(await rowCounts(runtime.db), before)
})

test('a body split into single bytes is read like any other', async () => {
  const socket = connect(Number(port), '127.0.0.1')
  const body = '{"name":"Grüße 😀"}'
  socket.write(
    `POST /v1/api_keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
  )
  for (const byte of Buffer.from(body)) {
    socket.write(Buffer.from([byte]))
    await wait(1)
  }
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.includes('"key"')) break
  }
  assert.match(text, /^HTTP\/1\.1 201/)
  assert.match(text, /Grüße 😀/)
})
