import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

/** Attempts to confuse, leak from or walk around the HTTP doors. Each of them must fail. */
const service = await startTestService()
const { url } = service

/** Bytes as they are; all that comes back until the server closes or is silent. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let heard = ''
    socket.setTimeout(1_000, () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(heard))
    socket.write(text)
  })
}

const statusesIn = (heard: string): string[] =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? '')

test('a request with two lengths cannot smuggle a second one', async () => {
  const smuggled = 'GET /v1/accounts/me HTTP/1.1\r\nHost: a\r\n\r\n'
  const heads = [
    `Content-Length: 3\r\nContent-Length: ${smuggled.length}\r\n`,
    'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'Content-Length: +3\r\n',
  ]
  for (const head of heads) {
    const heard = await raw(
      `POST /v1/sessions HTTP/1.1\r\nHost: a\r\n${head}\r\n0\r\n\r\n${smuggled}`,
    )
    assert.deepEqual(statusesIn(heard), ['400'], head)
  }
})

test('paths cannot leave the folders that are served', async () => {
  const paths = [
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/docs/../../../../etc/passwd',
    '/docs/..%5c..%5cpackage.json',
    '//etc/passwd',
    '/panel/....//....//package.json',
  ]
  for (const path of paths) {
    const heard = await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    assert(!/"dependencies"|root:x:0/.test(heard), path)
  }
})

test('headers that claim another method, address or host change nothing', async () => {
  const { key } = await openHolder(service)
  const card = await issueCard(url, key)
  const headers = {
    'X-HTTP-Method-Override': 'DELETE',
    'X-Original-URL': `/v1/cards/${card.id}/cancel`,
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Host': 'evil.example',
    Forwarded: 'for=127.0.0.1;host=evil.example',
  }
  const reply = await send(url, 'GET', `/v1/cards/${card.id}`, { bearer: key, headers })
  assert.equal(reply.body.status, 'active')
  for (const path of ['/.well-known/oauth-authorization-server', '/openapi.json']) {
    const { text } = await send(url, 'GET', path, { headers })
    assert(!text.includes('evil.example'), path)
  }
})

test('credentials of one door do not open another', async () => {
  const { key, bearer } = await openHolder(service)
  for (const path of ['/operator/v1/accounts', '/operator/v1/kill_switches']) {
    for (const credential of [key, bearer]) {
      assert.equal((await send(url, 'GET', path, { bearer: credential })).status, 401, path)
    }
  }
  assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer: OPERATOR_TOKEN })).status, 401)
  const tool = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  assert.equal(
    (await send(url, 'POST', '/mcp', { bearer: OPERATOR_TOKEN, body: tool })).status,
    401,
  )
})

test('a cursor of one account or filter opens no page of another', async () => {
  const victim = await openHolder(service)
  for (let at = 0; at < 3; at += 1) await issueCard(url, victim.key)
  const { body } = await send(url, 'GET', '/v1/cards?limit=1', { bearer: victim.key })
  const cursor = encodeURIComponent(body.next_cursor)
  const thief = await openHolder(service)
  const stolen = await send(url, 'GET', `/v1/cards?limit=1&cursor=${cursor}`, { bearer: thief.key })
  assert.deepEqual(stolen.body.data, [])
  const moved = `/v1/cards?limit=1&status=active&cursor=${cursor}`
  const other = await send(url, 'GET', moved, { bearer: victim.key })
  assert.equal(other.body.error, 'invalid_cursor')
  const forged = await send(url, 'GET', '/v1/cards?cursor=bm90IGEgY3Vyc29y', { bearer: victim.key })
  assert.equal(forged.body.error, 'invalid_cursor')
})

test('wildcards and quotes in a filter are plain text', async () => {
  const { key } = await openHolder(service)
  await issueCard(url, key, { name: 'Groceries' })
  for (const name of ['%', '_roceries', "' or '1'='1", 'Groceries%00', '\\', '*']) {
    const path = `/v1/cards?name=${encodeURIComponent(name)}`
    const reply = await send(url, 'GET', path, { bearer: key })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.body.data, [], name)
  }
})

test('names of the object prototype in a body are data or refused, and change nothing', async () => {
  const { key } = await openHolder(service)
  const bodies = [
    ['{"type": "virtual", "__proto__": {"status": "cancelled"}}', 400],
    ['{"type": "virtual", "constructor": {"prototype": {"polluted": true}}}', 400],
    ['{"type": "virtual", "metadata": {"__proto__": "x", "constructor": "y"}}', 201],
  ] as const
  for (const [text, status] of bodies) {
    const reply = await send(url, 'POST', '/v1/cards', { bearer: key, raw: text })
    assert.equal(reply.status, status, reply.text)
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  }
  const fine = await issueCard(url, key)
  assert.equal(fine.status, 'active')
})

test('an email in other letters is the same account', async () => {
  const { email } = await openAccount(url)
  const body = { email: email.toUpperCase(), password: 'a long enough password' }
  const again = await send(url, 'POST', '/v1/accounts', { body })
  assert.equal(again.body.error, 'email_taken')
  assert.equal((await send(url, 'POST', '/v1/sessions', { body })).status, 200)
})

test('a line break in a header value is refused and reaches no response', async () => {
  const { key } = await openHolder(service)
  const head = `Authorization: Bearer ${key}\r\nIdempotency-Key: a\rSet-Cookie: b=c\r\n`
  const heard = await raw(`GET /v1/accounts/me HTTP/1.1\r\nHost: a\r\n${head}\r\n`)
  assert.deepEqual(statusesIn(heard), ['400'])
  assert(!/set-cookie/i.test(heard))
})

test('the clock of the sandbox cannot be moved without a bearer', async () => {
  const { key } = await openHolder(service)
  const sandbox = await send(url, 'POST', '/sandbox/v1/clock/advance', {
    bearer: key,
    body: { seconds: 1 },
  })
  assert.equal(sandbox.status, 200)
  const anonymous = await send(url, 'POST', '/sandbox/v1/clock/advance', { body: { seconds: 1 } })
  assert.equal(anonymous.status, 401)
})
