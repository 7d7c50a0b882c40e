import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createClient, FlorinError } from './client.ts'

type Turn = (response: ServerResponse) => void
type Seen = { at: number; key: string | undefined; url: string; headers: IncomingHttpHeaders }

/** A real server that plays its turns in order, the last one over and over. */
async function serving(...turns: Turn[]) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key'] as string | undefined
    const { url = '', headers } = request
    seen.push({ at: performance.now(), key, url, headers })
    const turn = turns[Math.min(seen.length, turns.length) - 1]
    request.resume().on('end', () => turn?.(response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, seen, client: createClient({ url, bearer: 'flk_test_x' }) }
}

const answering =
  (status: number, body: object | string = {}, headers: Record<string, string> = {}): Turn =>
  (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

const refusing = (status: number, error: string, headers = {}) =>
  answering(status, { error, message: 'No.', request_id: 'req_1' }, headers)
const hangingUp: Turn = (response) => void response.destroy()
const load = { id: 'card_1', amount_usd: 20 }

test('a write that the network lost is repeated under the same key until it is answered', async () => {
  const { client, seen } = await serving(hangingUp, hangingUp, answering(200, { id: 'ctr_1' }))
  assert.deepEqual(await client.load_card(load), { id: 'ctr_1' })
  assert.equal(seen.length, 3)
  assert.match(String(seen[0]?.key), /^[0-9a-f]{32}$/)
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1)
})

test('two calls have two keys, and a key of the caller is sent as it is', async () => {
  const { client, seen } = await serving(answering(200))
  await client.load_card(load)
  await client.load_card(load)
  await client.load_card(load, { idempotency_key: 'order-7' })
  assert.notEqual(seen[0]?.key, seen[1]?.key)
  assert.equal(seen[2]?.key, 'order-7')
})

for (const [status, code] of [
  [500, 'internal_error'],
  [502, 'upstream_error'],
  [503, 'service_unavailable'],
  [429, 'rate_limited'],
  [409, 'idempotency_in_progress'],
] as const) {
  test(`${code} is waited out`, async () => {
    const { client, seen } = await serving(refusing(status, code), answering(200, { id: 'x' }))
    await client.freeze_card({ id: 'card_1' })
    assert.equal(seen.length, 2)
  })
}

test('Retry-After is kept to, and one that is longer than our patience is left to the caller', async () => {
  const soon = await serving(refusing(429, 'rate_limited', { 'retry-after': '1' }), answering(200))
  await soon.client.get_balance()
  const [first, second] = soon.seen
  assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 950)

  const late = await serving(refusing(429, 'rate_limited', { 'retry-after': '3600' }))
  await assert.rejects(late.client.get_balance(), { code: 'rate_limited', retry_after: 3600 })
  assert.equal(late.seen.length, 1)
})

for (const [status, code] of [
  [400, 'invalid_request'],
  [409, 'insufficient_balance'],
  [409, 'card_frozen'],
  [422, 'invalid_amount'],
  [503, 'kill_switch_active'],
  [429, 'too_many_attempts'],
] as const) {
  test(`${code} is an answer, and is not asked for twice`, async () => {
    const { client, seen } = await serving(refusing(status, code))
    await assert.rejects(client.load_card(load), { name: 'FlorinError', code, status })
    assert.equal(seen.length, 1)
  })
}

test('what must happen once is never sent twice, unless it was turned away at the door', async () => {
  for (const turn of [
    hangingUp,
    refusing(500, 'internal_error'),
    refusing(504, 'upstream_timeout'),
  ]) {
    const { client, seen } = await serving(turn)
    await assert.rejects(client.reveal_pan({ id: 'card_1' }), FlorinError)
    await assert.rejects(client.sign_in({ email: 'a@b.ch', password: 'x' }), FlorinError)
    assert.equal(seen.length, 2)
  }
  const { client, seen } = await serving(refusing(429, 'rate_limited'), answering(200))
  await client.reveal_pan({ id: 'card_1' })
  assert.equal(seen.length, 2)
})

test('patience ends: after three repeats the failure is the caller’s', async () => {
  const { client, seen } = await serving(refusing(503, 'service_unavailable'))
  await assert.rejects(client.get_balance(), { code: 'service_unavailable', request_id: 'req_1' })
  assert.equal(seen.length, 4)
  await assert.rejects(client.get_balance({}, { retries_max: 0 }), FlorinError)
  assert.equal(seen.length, 5)
})

test('no answer in time is a timeout; nobody there is a network error with its cause', async () => {
  const { client } = await serving(() => undefined)
  const hasty = { timeout_ms: 50, retries_max: 0 }
  await assert.rejects(client.get_balance({}, hasty), { code: 'timeout', status: 0 })
  const nobody = createClient({ url: 'http://127.0.0.1:9', retries_max: 0 })
  await assert.rejects(
    nobody.get_balance(),
    ({ code, cause }: FlorinError) => code === 'network_error' && cause instanceof Error,
  )
})

test('a signal ends a call at once, in the middle of an answer or of a wait, with its own reason', async () => {
  const hanging = await serving(() => undefined)
  const reason = new Error('the user went away')
  const aborted = (client: typeof hanging.client) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(reason), 50)
    return client.get_balance({}, { signal: controller.signal })
  }
  await assert.rejects(aborted(hanging.client), reason)
  const waiting = await serving(refusing(503, 'maintenance', { 'retry-after': '20' }))
  const began = performance.now()
  await assert.rejects(aborted(waiting.client), reason)
  assert.ok(performance.now() - began < 5_000)
  assert.equal(waiting.seen.length, 1)
})

test('an answer of somebody in between is told apart from one of the service', async () => {
  const { client } = await serving(answering(403, '<html>blocked</html>'))
  await assert.rejects(client.get_balance(), { code: 'unexpected_answer', status: 403 })
  const captive = await serving(answering(200, '<html>sign in to the hotel</html>'))
  await assert.rejects(captive.client.get_balance(), { code: 'unexpected_answer', status: 200 })
})

test('fields and words that are new to it come through untouched', async () => {
  const card = { id: 'card_1', status: 'paused', colour: { name: 'teal' } }
  const { client } = await serving(answering(200, card))
  const answer = await client.get_card({ id: 'card_1' })
  assert.deepEqual(answer, card)
  assert.equal(answer.status, 'paused')
})

const requirement = { x402Version: 2, accepts: [{ scheme: 'exact', amount: '10000' }] }
const asking = (error: string) => {
  const header = Buffer.from(JSON.stringify(requirement)).toString('base64')
  return refusing(402, error, { 'payment-required': header })
}

test('a price is paid once by the hook, and every repeat carries key and payment', async () => {
  const { url, seen } = await serving(
    asking('payment_required'),
    refusing(503, 'service_unavailable'),
    answering(200, { id: 'ctr_1' }, { 'payment-response': 'receipt' }),
  )
  const asked: unknown[] = []
  const receipts: (string | null)[] = []
  const client = createClient({
    url,
    onPaymentRequired: async (given, { operation }) => {
      asked.push(given, operation)
      return 'signed'
    },
    onResponse: ({ headers }) => void receipts.push(headers.get('payment-response')),
  })
  assert.deepEqual(await client.load_card(load), { id: 'ctr_1' })
  assert.deepEqual(asked, [requirement, 'load_card'])
  assert.deepEqual(receipts, [null, null, 'receipt'])
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1)
  assert.deepEqual(
    seen.map(({ headers }) => headers['payment-signature']),
    [undefined, 'signed', 'signed'],
  )
})

test('a price that nobody pays, or a payment that is refused, is the failure of the call', async () => {
  const { client, seen, url } = await serving(asking('payment_failed'))
  await assert.rejects(client.load_card(load), { code: 'payment_failed', status: 402 })
  const paying = createClient({ url, onPaymentRequired: () => 'signed' })
  await assert.rejects(paying.load_card(load), { code: 'payment_failed', status: 402 })
  assert.equal(seen.length, 3)
})

test('a list that is awaited is one page, and walked it is every row, fetched when wanted', async () => {
  const pageAt = (data: object[], next_cursor: string | null) =>
    answering(200, { data, next_cursor, has_more: next_cursor !== null })
  const { client, seen } = await serving(
    pageAt([{ id: 'card_1' }, { id: 'card_2' }], 'c1'),
    pageAt([{ id: 'card_3' }], null),
  )
  const listing = client.list_cards({ status: 'active', limit: 2, name: undefined })
  assert.equal(seen.length, 0)
  const ids: string[] = []
  for await (const card of listing) ids.push(card.id)
  assert.deepEqual(ids, ['card_1', 'card_2', 'card_3'])
  assert.deepEqual(
    seen.map(({ url }) => url),
    ['/v1/cards?status=active&limit=2', '/v1/cards?status=active&limit=2&cursor=c1'],
  )
  const page = await client.list_cards()
  assert.deepEqual([page.data.length, page.has_more, page.next_cursor], [1, false, null])
  for await (const { data } of client.list_cards().pages()) assert.equal(data[0]?.id, 'card_3')
})

test('an id that would lead elsewhere is refused before anything is sent', async () => {
  const { client, seen } = await serving(answering(200))
  for (const id of ['', '.', '..']) await assert.rejects(client.get_card({ id }), TypeError)
  await client.get_card({ id: '../accounts/me?x=1' })
  assert.deepEqual(
    seen.map(({ url }) => url),
    ['/v1/cards/..%2Faccounts%2Fme%3Fx%3D1'],
  )
})
