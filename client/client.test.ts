import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, FlorinError } from './client.ts'

type Reply = (response: ServerResponse) => void
type ReceivedRequest = {
  at: number
  key: string | undefined
  url: string
  headers: IncomingHttpHeaders
}

/** Listens on loopback until the tests of this file are over. */
async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that sends the replies in order and repeats the last one. */
async function startServer(...replies: Reply[]) {
  const seen: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key'] as string | undefined
    const { url = '', headers } = request
    seen.push({ at: performance.now(), key, url, headers })
    const reply = replies[Math.min(seen.length, replies.length) - 1]
    request.resume().on('end', () => reply?.(response))
  })
  const url = await listen(server)
  return { url, seen, client: createClient({ url, bearer: 'flk_test_x' }) }
}

const replyWith =
  (status: number, body: object | string = {}, headers: Record<string, string> = {}): Reply =>
  (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }

const replyError = (status: number, error: string, headers = {}) =>
  replyWith(status, { error, message: 'No.', request_id: 'req_1' }, headers)
const dropConnection: Reply = (response) => void response.destroy()
const load = { id: 'card_1', amount_usd: 20 }

test('a write is retried with the same Idempotency-Key after network errors', async () => {
  const { client, seen } = await startServer(
    dropConnection,
    dropConnection,
    replyWith(200, { id: 'ctr_1' }),
  )
  assert.deepEqual(await client.load_card(load), { id: 'ctr_1' })
  assert.equal(seen.length, 3)
  assert.match(String(seen[0]?.key), /^[0-9a-f]{32}$/)
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1)
})

test('an error says where the account owner can approve the call', async () => {
  const approval = { id: 'apr_1', url: 'https://pay.example/approvals/apr_1', expires_at: 'soon' }
  const refusal = { error: 'approval_required', message: 'Ask.', approval }
  const { client } = await startServer(replyWith(403, refusal), replyError(403, 'policy_denied'))
  const errorOf = () => client.load_card(load).catch((cause) => cause)
  assert.deepEqual((await errorOf()).approval, approval)
  assert.equal((await errorOf()).approval, null)
})

test("each call has a new Idempotency-Key, and the caller's own key is sent unchanged", async () => {
  const { client, seen } = await startServer(replyWith(200))
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
  test(`${code} is retried`, async () => {
    const { client, seen } = await startServer(
      replyError(status, code),
      replyWith(200, { id: 'x' }),
    )
    await client.freeze_card({ id: 'card_1' })
    assert.equal(seen.length, 2)
  })
}

test('Retry-After is respected, and a call fails if it is longer than wait_max_ms', async () => {
  const soon = await startServer(
    replyError(429, 'rate_limited', { 'retry-after': '1' }),
    replyWith(200),
  )
  await soon.client.get_balance()
  const [first, second] = soon.seen
  assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 950)

  const late = await startServer(replyError(429, 'rate_limited', { 'retry-after': '3600' }))
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
  test(`${code} is not retried`, async () => {
    const { client, seen } = await startServer(replyError(status, code))
    await assert.rejects(client.load_card(load), { name: 'FlorinError', code, status })
    assert.equal(seen.length, 1)
  })
}

test('reveal_pan and sign_in are retried only after rate_limited', async () => {
  for (const reply of [
    dropConnection,
    replyError(500, 'internal_error'),
    replyError(504, 'upstream_timeout'),
  ]) {
    const { client, seen } = await startServer(reply)
    await assert.rejects(client.reveal_pan({ id: 'card_1' }), FlorinError)
    await assert.rejects(client.sign_in({ email: 'a@b.ch', password: 'x' }), FlorinError)
    assert.equal(seen.length, 2)
  }
  const { client, seen } = await startServer(replyError(429, 'rate_limited'), replyWith(200))
  await client.reveal_pan({ id: 'card_1' })
  assert.equal(seen.length, 2)
})

test('the call fails after three retries', async () => {
  const { client, seen } = await startServer(replyError(503, 'service_unavailable'))
  await assert.rejects(client.get_balance(), { code: 'service_unavailable', request_id: 'req_1' })
  assert.equal(seen.length, 4)
  await assert.rejects(client.get_balance({}, { retries_max: 0 }), FlorinError)
  assert.equal(seen.length, 5)
})

test('no response is a timeout; no connection is a network_error with its cause', async () => {
  const { client } = await startServer(() => undefined)
  const hasty = { timeout_ms: 50, retries_max: 0 }
  await assert.rejects(client.get_balance({}, hasty), { code: 'timeout', status: 0 })
  const nobody = createClient({ url: 'http://127.0.0.1:9', retries_max: 0 })
  await assert.rejects(
    nobody.get_balance(),
    ({ code, cause }: FlorinError) => code === 'network_error' && cause instanceof Error,
  )
})

test('an upload may take longer than timeout_ms while it makes progress', async () => {
  const server = createServer(async (request, response) => {
    let read_until = 0
    let bytes = 0
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length
      if (bytes < read_until) continue
      read_until = bytes + 2 ** 20
      await sleep(100)
    }
    replyWith(200, { bytes })(response)
  })
  const url = await listen(server)
  const client = createClient({ url, timeout_ms: 1_000, retries_max: 0 })
  const file = new Uint8Array(24 * 2 ** 20)
  const started = performance.now()
  const uploaded = await client.add_dispute_evidence({ id: 'dsp_1', kind: 'receipt', file })
  assert.deepEqual(uploaded, { bytes: file.length })
  assert(performance.now() - started > 1_500)
})

test('an upload that stalls is a timeout', async () => {
  const { client } = await startServer(() => undefined)
  const file = new Blob(['x'])
  const upload = client.add_dispute_evidence(
    { id: 'dsp_1', kind: 'receipt', file },
    { timeout_ms: 200, retries_max: 0 },
  )
  await assert.rejects(upload, { code: 'timeout' })
})

test('an aborted signal ends a request or a wait immediately with its own reason', async () => {
  const hanging = await startServer(() => undefined)
  const reason = new Error('the user went away')
  const abortedOnceSeen = ({ client, seen }: typeof hanging) => {
    const controller = new AbortController()
    const timer = setInterval(() => {
      if (seen.length > 0) controller.abort(reason)
    }, 20)
    return client
      .get_balance({}, { signal: controller.signal })
      .then(() => undefined)
      .finally(() => clearInterval(timer))
  }
  await assert.rejects(abortedOnceSeen(hanging), reason)
  const waiting = await startServer(replyError(503, 'maintenance', { 'retry-after': '20' }))
  const began = performance.now()
  await assert.rejects(abortedOnceSeen(waiting), reason)
  assert.ok(performance.now() - began < 15_000, 'less than its wait of 20 s')
  assert.equal(waiting.seen.length, 1)
})

test('a response of a proxy is reported as unexpected_response', async () => {
  const { client } = await startServer(replyWith(403, '<html>blocked</html>'))
  await assert.rejects(client.get_balance(), { code: 'unexpected_response', status: 403 })
  const captive = await startServer(replyWith(200, '<html>sign in to the hotel</html>'))
  await assert.rejects(captive.client.get_balance(), { code: 'unexpected_response', status: 200 })
})

test('unknown fields and enum values are passed through unchanged', async () => {
  const card = { id: 'card_1', status: 'paused', colour: { name: 'teal' } }
  const { client } = await startServer(replyWith(200, card))
  const response = await client.get_card({ id: 'card_1' })
  assert.deepEqual(response, card)
  assert.equal(response.status, 'paused')
})

const requirement = { x402Version: 2, accepts: [{ scheme: 'exact', amount: '10000' }] }
const replyPaymentRequired = (error: string) => {
  const header = Buffer.from(JSON.stringify(requirement)).toString('base64')
  return replyError(402, error, { 'payment-required': header })
}

test('onPaymentRequired is called once, and retries send the same key and payment', async () => {
  const { url, seen } = await startServer(
    replyPaymentRequired('payment_required'),
    replyError(503, 'service_unavailable'),
    replyWith(200, { id: 'ctr_1' }, { 'payment-response': 'receipt' }),
  )
  const hook_calls: unknown[] = []
  const receipts: (string | null)[] = []
  const client = createClient({
    url,
    onPaymentRequired: async (given, { operation }) => {
      hook_calls.push(given, operation)
      return 'signed'
    },
    onResponse: ({ headers }) => void receipts.push(headers.get('payment-response')),
  })
  assert.deepEqual(await client.load_card(load), { id: 'ctr_1' })
  assert.deepEqual(hook_calls, [requirement, 'load_card'])
  assert.deepEqual(receipts, [null, null, 'receipt'])
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1)
  assert.deepEqual(
    seen.map(({ headers }) => headers['payment-signature']),
    [undefined, 'signed', 'signed'],
  )
})

test('a call fails with 402 if the price is not paid or the payment is refused', async () => {
  const { client, seen, url } = await startServer(replyPaymentRequired('payment_failed'))
  await assert.rejects(client.load_card(load), { code: 'payment_failed', status: 402 })
  const paying = createClient({ url, onPaymentRequired: () => 'signed' })
  await assert.rejects(paying.load_card(load), { code: 'payment_failed', status: 402 })
  assert.equal(seen.length, 3)
})

test('await fetches one page of a list; for await iterates all rows and fetches pages lazily', async () => {
  const pageAt = (data: object[], next_cursor: string | null) =>
    replyWith(200, { data, next_cursor, has_more: next_cursor !== null })
  const { client, seen } = await startServer(
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

test('an ID that would change the path is refused before a request is sent', async () => {
  const { client, seen } = await startServer(replyWith(200))
  for (const id of ['', '.', '..']) await assert.rejects(client.get_card({ id }), TypeError)
  await client.get_card({ id: '../accounts/me?x=1' })
  assert.deepEqual(
    seen.map(({ url }) => url),
    ['/v1/cards/..%2Faccounts%2Fme%3Fx%3D1'],
  )
})
