// Runs alone, because it loads the machine and bounds response times.
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { inputLocation } from '#contract/operation.ts'
import { operator_reply_ticket } from '#contract/operator/tickets.ts'
import { bodyOf, pathOf, shapes } from '#test/support/contract.ts'
import { type RequestOptions, send } from '#test/support/http.ts'
import { assertOnTime } from '#test/support/on_time.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startProbed } from '#test/support/probed_node.ts'

/** Card messages, which need a response within a second, run beside every request. */
const TURN_MAX_MS = 50
const skip = existsSync('/proc/self/schedstat') ? false : 'there is no /proc/self/schedstat here'

const { url, longestTurn } = await startProbed()
const { bearer } = await openAccount(url)
const { key } = await createKey(url, bearer)
const { port } = new URL(url)

/** Bodies of about so many bytes, each hard on something else. */
const worstBodies = (bytes: number): Record<string, string | Buffer> => {
  const times = (text: string, around = 2) =>
    text.repeat(Math.floor((bytes - around) / text.length))
  return {
    'deep arrays': times('['),
    'deep objects': times('{"a":'),
    'many values': `[${times('0,', 3)}0]`,
    'many empty strings': `[${times('"",', 4)}""]`,
    'many keys': `{${times('"abcdefg":1,', 20)}"z":1}`,
    'an unknown field': `{"zzz":"${times('a', 20)}"}`,
    'a known field': `{"email":"a@${times('a.', 30)}a","name":"x","note":"x"}`,
    escapes: `{"name":"${times('\\u0041', 20)}"}`,
    quotes: `{"name":"${times('\\"', 20)}"}`,
    'letters of two bytes': Buffer.from(`{"name":"${'ü'.repeat(Math.floor(bytes / 2) - 20)}"}`),
    'half surrogates': `{"name":"${times('\\ud800', 20)}"}`,
    digits: `{"amount_usd":${times('9', 20)}}`,
    decimals: `{"amount_usd":0.${times('0', 30)}1}`,
    spaces: `{"name":${times(' ', 20)}"x"}`,
    'an unclosed string': `{"name":"${times('a', 20)}`,
    base64: `{"kind":"receipt","content_base64":"${times('QUFB', 60)}"}`,
    padding: `{"kind":"receipt","content_base64":"${times('=', 60)}x"}`,
    'bytes that are no text': Buffer.alloc(bytes, 0xff),
  }
}

const small = worstBodies(65_000)
const large = worstBodies(26_000_000)

const over: string[] = []

const TRIES = 3

/**
 * Sends it once to load and compile what it needs, then notes it if it takes too long each time: a
 * collection of garbage that happens to fall into a turn does not come again.
 */
async function probe(what: string, ask: () => Promise<unknown>): Promise<void> {
  await ask()
  const turns_ms: number[] = []
  while (turns_ms.length < TRIES) {
    await longestTurn()
    await ask()
    const turn_ms = await longestTurn()
    if (turn_ms <= TURN_MAX_MS) return
    turns_ms.push(Math.round(turn_ms))
  }
  over.push(`${what}: ${turns_ms.join(', ')} ms`)
}

function assertNone(): void {
  const late = over.splice(0)
  assertOnTime(late.length === 0, late.join('\n'))
}

const ask = (method: string, path: string, sent: RequestOptions) => () =>
  send(url, method, path, sent)

test('64 KB from a stranger hold no route longer than 50 ms', { skip }, async () => {
  const others = ['/oauth/token', '/oauth/revoke', '/oauth/register', '/three_ds/x/y', '/mcp']
  others.push('/processor/x/authorizations', '/oauth/interaction/x', '/sandbox/v1/clock/advance')
  const routes = shapes
    .filter((shape) => inputLocation(shape) === 'body')
    .map((shape): [string, string] => [shape.method, pathOf(shape)])
  routes.push(...others.map((path): [string, string] => ['POST', path]))
  for (const [at, [method, path]] of routes.entries()) {
    const names = Object.keys(small)
    // Public operations get all inputs; operations that need a bearer get a few.
    const isOpen = /^\/(oauth|three_ds|mcp|v1\/(accounts|sessions)$)/.test(path)
    const chosen = isOpen ? names : [0, 1, 2].map((step) => names[(at * 3 + step) % names.length])
    for (const name of chosen as string[]) {
      await probe(`${method} ${path} ${name}`, ask(method, path, { raw: small[name] as string }))
    }
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const raw of [
    'resource=x&'.repeat(5_900),
    Array.from({ length: 4_000 }, (_, at) => `resource=x${at}`).join('&'),
    `resource=${'/'.repeat(64_000)}x`,
    'a&'.repeat(32_000),
    Array.from({ length: 6_000 }, (_, at) => `k${at}=%41`).join('&'),
    `scope=${'openid+'.repeat(9_000)}`,
    `client_id=x&client_secret=${'%F0%9F%98%80'.repeat(5_000)}`,
  ]) {
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/interaction/x']) {
      await probe(`${path} ${raw.slice(0, 20)}`, ask('POST', path, { raw, headers: form }))
    }
  }
  assertNone()
})

test('25 MB from a caller hold no route longer than 50 ms', { skip }, async () => {
  const names = Object.keys(large)
  const routes = shapes.filter(
    (shape) => inputLocation(shape) === 'body' && shape.access !== 'anyone',
  )
  for (const [at, shape] of routes.entries()) {
    const sender = typeof shape.access === 'object' && shape.access.session ? bearer : key
    const isUpload = shape.name === 'add_dispute_evidence'
    const chosen = isUpload ? names : [names[at % names.length] as string]
    for (const name of chosen) {
      const sent = { bearer: sender, raw: large[name] as string, key: `k-${at}-${name.length}` }
      await probe(`${shape.name} ${name}`, ask(shape.method, pathOf(shape), sent))
    }
  }
  const { method, path } = operator_reply_ticket
  for (const name of ['many keys', 'an unknown field']) {
    const sent = { bearer: OPERATOR_TOKEN, raw: large[name] as string }
    await probe(`operator ${name}`, ask(method, `/operator/v1${path.replace('{id}', 'x')}`, sent))
  }
  assertNone()
})

test('no message to a tool holds the event loop longer than 50 ms', { skip }, async () => {
  const headers = { accept: 'application/json, text/event-stream' }
  const mcp = (raw: string | Buffer, sender = key) =>
    ask('POST', '/mcp', { bearer: sender, raw, headers })
  const message = (params: string, method = '"tools/call"', id = '1') =>
    `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${params}}`
  const long = `"${'a'.repeat(24_000_000)}"`
  for (const [name, raw] of Object.entries(large)) await probe(`/mcp ${name}`, mcp(raw))
  const envelopes = {
    'a long id': message('{"name":"get_balance"}', '"tools/call"', long),
    'a long method': message('{}', long),
    'a long tool': message(`{"name":${long}}`),
    'a long key': message(`{"name":"create_api_key","arguments":{"idempotency_key":${long}}}`),
    'a quoted key': message(
      `{"name":"create_api_key","arguments":{"idempotency_key":"\\"${'a'.repeat(24_000_000)}"}}`,
    ),
    'a long payment': message(`{"name":"get_balance","_meta":{"x402/payment":{"a":${long}}}}`),
    'a long progress token': message(`{"name":"get_balance","_meta":{"progressToken":${long}}}`),
    'a long resource': message(`{"uri":${long}}`, '"resources/read"'),
    'a long prompt': message(`{"name":${long}}`, '"prompts/get"'),
    'a long argument of a prompt': message(
      `{"name":"fund_and_issue_a_card","arguments":{"amount_usd":${long}}}`,
      '"prompts/get"',
    ),
  }
  for (const [name, raw] of Object.entries(envelopes)) await probe(`/mcp ${name}`, mcp(raw))
  for (const [at, shape] of shapes.entries()) {
    const example = JSON.stringify({ ...bodyOf(shape), id: 'x_1' }).slice(1, -1)
    const fields = Object.keys(shape.input.properties)
    const field = fields[at % Math.max(1, fields.length)] ?? 'zzz'
    const keys = Array.from({ length: 9_000 }, (_, nth) => `"k${nth}":0`).join(',')
    const items = Array.from({ length: 9_000 }, (_, nth) => `"${nth}"`).join(',')
    const worst = [
      `{${example},${keys}}`,
      `{"${field}":[${items}]}`,
      `{"${field}":{${keys}}}`,
      `{"${field}":${'['.repeat(90)}${']'.repeat(90)}}`,
    ]
    // Each of these is 24 MB twice: a few of the tools are enough.
    if (at % 6 === 0 || shape.name === 'get_card') worst.push(`{"${field}":${long}}`)
    for (const given of worst) {
      const raw = message(`{"name":"${shape.name}","arguments":${given}}`)
      await probe(`tool ${shape.name} ${given.slice(0, 30)}`, mcp(raw))
    }
  }
  assertNone()
})

/** Sends a raw request on a new socket and waits for the beginning of the response. */
function raw(head: string): () => Promise<void> {
  return () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => resolve())
      socket.once('close', () => resolve())
      socket.once('data', () => socket.destroy())
      socket.write(`${head}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
    })
}

test('no query, header or cookie holds the event loop longer than 50 ms', { skip }, async () => {
  const pad = (text: string) => text.repeat(Math.floor(15_500 / text.length))
  const gets = shapes.filter(({ method }) => method === 'GET').map((shape) => pathOf(shape))
  const pages = ['/', '/docs', '/oauth/authorize', '/oauth/interaction/x', '/openapi.json', '/x']
  const bearing = `\r\nAuthorization: Bearer ${key}`
  for (const path of [...gets, ...pages]) {
    for (const query of ['a=1&', 'limit=1&', 'resource=x&', '%00', '&', 'status=a,,', '%F0%9F']) {
      await probe(`${path}?${query}`, raw(`GET ${path}?${pad(query)} HTTP/1.1${bearing}`))
    }
  }
  const headers = {
    Cookie: ['a=1; ', 'florin_sign_in=x; ', 'florin_interaction=; ', ';'],
    Authorization: ['Bearer ', 'Basic YTpi', 'a'],
    'Content-Type': ['multipart/form-data; boundary="', 'application/json;', ' ', '/'],
    'Idempotency-Key': ['"', 'a', ' '],
    'User-Agent': ['a', 'ü'],
    Accept: ['a/b,', '*/*;q=0.', 'text/event-stream'],
    'X-Forwarded-For': ['1.2.3.4, ', ':'],
    'Payment-Signature': ['e30=', '['],
    'Last-Event-Id': ['a'],
    'Mcp-Session-Id': ['a'],
    Range: ['bytes=0-1,'],
  }
  for (const [name, values] of Object.entries(headers)) {
    for (const value of values) {
      for (const head of [
        'GET /v1/cards HTTP/1.1',
        'POST /mcp HTTP/1.1',
        'POST /v1/cards HTTP/1.1',
        'POST /v1/disputes/dsp_x/evidence HTTP/1.1',
        'GET /oauth/authorize?client_id=x HTTP/1.1',
        'GET /oauth/interaction/x HTTP/1.1',
      ]) {
        const own = name === 'Authorization' ? '' : bearing
        await probe(`${head} ${name}: ${value}`, raw(`${head}${own}\r\n${name}: ${pad(value)}`))
      }
    }
  }
  assertNone()
})
