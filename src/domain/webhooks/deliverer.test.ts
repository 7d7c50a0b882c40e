import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { ActivityEvent } from '#contract/activity.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import { insertDeliveries } from '#domain/webhooks/delivery_store.ts'
import { disableWebhook } from '#domain/webhooks/disable_webhook.ts'
import { Stripe } from '#test/packages/stripe.ts'
import { advance, auditLog } from '#test/support/calls.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { type Receiver, respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { attemptsOf, subscribe, webhookOf } from '#test/support/webhooks.ts'

const service = await startTestService()
const { url, runtime } = service
const { db } = runtime

/** An account with one webhook, and functions to emit events and wait for attempts. */
async function openSubscriber(options: { url?: string; respond?: Receiver['respond'] } = {}) {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  if (options.respond !== undefined) receiver.respond = options.respond
  const { id, secret } = await subscribe(url, person, { url: options.url ?? receiver.url })
  const emit = (count = 1) =>
    recordTestEvents(
      runtime,
      person.account_id,
      Array.from({ length: count }, () => plainEvent('card.loaded')),
    )
  const attempts = () => attemptsOf(url, person.bearer, id)
  const waitForAttempts = async (count: number) => {
    const isThere = async () => (await attempts()).length >= count
    assert(await eventually(isThere, { within_ms: 20_000 }), `${count} attempts were recorded`)
    return attempts()
  }
  return { ...person, receiver, id, secret, emit, attempts, waitForAttempts }
}

test("Stripe's library verifies the signature of a delivery", async () => {
  const { receiver, secret, emit } = await openSubscriber()
  await emit()
  const [received] = await receiver.waitFor(1)
  assert(received !== undefined)
  const header = String(received.headers['service-signature'])
  assert.match(header, /^t=\d{10},v1=[0-9a-f]{64}$/)
  assert.equal(received.headers['service-event-id'], received.event.id)
  const stripe = new Stripe('sk_test_unused')
  const event = stripe.webhooks.constructEvent(received.body, header, secret) as { id: string }
  assert.equal(event.id, received.event.id)
  assert.throws(() => stripe.webhooks.constructEvent(`${received.body} `, header, secret))
  assert.throws(() => stripe.webhooks.constructEvent(received.body, header, `${secret}x`))
})

test('a failing event gets ten attempts on the schedule of the contract, with the same bytes', async () => {
  const { receiver, bearer, emit, waitForAttempts } = await openSubscriber({
    respond: respondWith(500),
  })
  await emit()
  await waitForAttempts(1)
  const delays_s = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
  for (const [at, delay_s] of delays_s.entries()) {
    await advance(url, bearer, delay_s * 0.79)
    // On a busy machine, the first five seconds may already have passed.
    if (at > 0) assert.equal(receiver.received.length, at + 1, `attempt ${at + 2} is not early`)
    await advance(url, bearer, delay_s * 0.42)
    await waitForAttempts(at + 2)
  }
  const attempts = await waitForAttempts(10)
  assert.deepEqual(
    attempts.map(({ attempt, status, response_status }) => [attempt, status, response_status]),
    Array.from({ length: 10 }, (_, at) => [at + 1, 'failed', 500]),
  )
  const made_at = attempts.map(({ created_at }) => Date.parse(created_at))
  for (const [at, delay_s] of delays_s.entries()) {
    const gap_s = ((made_at[at + 1] ?? 0) - (made_at[at] ?? 0)) / 1_000
    assert(gap_s >= delay_s * 0.8, `attempt ${at + 2} came after ${gap_s} s`)
  }
  assert.equal(attempts.at(-1)?.next_attempt_at, null)
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
  assert.equal(new Set(receiver.received.map(({ event }) => event.id)).size, 1)
})

test('Retry-After delays the next attempt', async () => {
  const { receiver, bearer, emit, waitForAttempts } = await openSubscriber({
    respond: respondWith(503, { 'retry-after': '120' }),
  })
  await emit()
  const [first] = await waitForAttempts(1)
  const wait_ms = Date.parse(first?.next_attempt_at ?? '') - Date.parse(first?.created_at ?? '')
  assert(wait_ms >= 120_000 && wait_ms < 125_000, `${wait_ms}`)
  await advance(url, bearer, 60)
  assert.equal(receiver.received.length, 1)
  receiver.respond = respondWith(200)
  await advance(url, bearer, 65)
  assert.equal((await waitForAttempts(2))[1]?.status, 'succeeded')
})

test('a redirect is a failure and is not followed', async () => {
  const target = await startReceiver()
  const { emit, waitForAttempts } = await openSubscriber({
    respond: respondWith(307, { location: target.url }),
  })
  await emit()
  const [attempt] = await waitForAttempts(1)
  assert.deepEqual([attempt?.status, attempt?.response_status], ['failed', 307])
  assert.equal(target.received.length, 0)
})

async function assertOwnerNotified(bearer: string, id: string): Promise<void> {
  const [entry] = await auditLog(url, bearer, '&action=webhook.disabled')
  assert.deepEqual([entry?.actor.type, entry?.resource?.id], ['system', id])
  const activity = await send(url, 'GET', '/v1/activity?type=error', { bearer })
  const [row] = activity.body['data'] as unknown as ActivityEvent[]
  assert.deepEqual([row?.event, row?.severity, row?.resource.id], ['webhook.disabled', 'error', id])
  const isMailed = async () => {
    const inbox = await send(url, 'GET', '/sandbox/v1/inbox', { bearer })
    return inbox.text.includes('Webhook to ')
  }
  assert(await eventually(isMailed, { within_ms: 20_000 }), 'the owner got an email')
}

test('a 410 response disables the webhook immediately and notifies the owner', async () => {
  const { receiver, bearer, id, emit } = await openSubscriber({ respond: respondWith(410) })
  await emit(2)
  const isOff = async () => (await webhookOf(url, bearer, id)).status === 'disabled'
  assert(await eventually(isOff, { within_ms: 20_000 }))
  assert.equal((await webhookOf(url, bearer, id)).disabled_reason, 'endpoint_gone')
  await assertOwnerNotified(bearer, id)
  const received = receiver.received.length
  await emit()
  await advance(url, bearer, 7_200)
  assert.equal(receiver.received.length, received, 'nothing more is sent')
})

test('five days of failures disable a webhook, unless one attempt succeeds in between', async () => {
  const dead = await openSubscriber({ respond: respondWith(500) })
  const shaky = await openSubscriber({ respond: respondWith(500) })
  for (const { emit, waitForAttempts } of [dead, shaky]) {
    await emit()
    await waitForAttempts(1)
  }
  const failing = await webhookOf(url, dead.bearer, dead.id)
  assert.match(failing.failing_since ?? '', /Z$/)
  await advance(url, dead.bearer, 2 * 86_400)
  shaky.receiver.respond = respondWith(200)
  await advance(url, dead.bearer, 2 * 86_400)
  const isWell = async () => (await shaky.attempts()).some(({ status }) => status === 'succeeded')
  assert(await eventually(isWell, { within_ms: 20_000 }), 'one attempt succeeded')
  assert.equal((await webhookOf(url, dead.bearer, dead.id)).status, 'enabled')
  await advance(url, dead.bearer, 86_400)
  const isOff = async () => (await webhookOf(url, dead.bearer, dead.id)).status === 'disabled'
  assert(await eventually(isOff, { within_ms: 20_000 }))
  const off = await webhookOf(url, dead.bearer, dead.id)
  assert.equal(off.disabled_reason, 'failing_for_5_days')
  await assertOwnerNotified(dead.bearer, dead.id)
  const alive = await webhookOf(url, shaky.bearer, shaky.id)
  assert.deepEqual([alive.status, alive.failing_since], ['enabled', null])
})

/** A TCP server that does not speak HTTP. */
async function startTcpServer(respond: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(respond)
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}

test('hanging, slow, resetting and flooding endpoints do not delay others', async () => {
  const person = await openAccount(url)
  const hanging = await startTcpServer((socket) => socket.on('error', () => undefined))
  const resetting = await startTcpServer((socket) => void socket.resetAndDestroy())
  const flooding = await startReceiver()
  flooding.respond = (response) => {
    const mebibyte = Buffer.alloc(2 ** 20, 'x')
    const flood = () => {
      while (!response.destroyed && response.write(mebibyte));
      if (!response.destroyed) response.once('drain', flood)
    }
    flood()
  }
  const slow = await startReceiver()
  slow.respond = (response) => void response.writeHead(200).write('x')
  const healthy = await startReceiver()
  for (const bad of [hanging, resetting, flooding.url, slow.url]) {
    for (let at = 0; at < 4; at += 1) await subscribe(url, person, { url: bad })
  }
  const { id } = await subscribe(url, person, { url: healthy.url })
  const started = performance.now()
  for (let at = 0; at < 20; at += 1) {
    await recordTestEvents(runtime, person.account_id, [plainEvent('card.loaded')])
  }
  await healthy.waitFor(20, 12_000)
  const isFree = async () => {
    const held = await service.owner_db.rows(
      `select 1 from pg_stat_activity
        where datname = current_database() and state like 'idle in transaction%'`,
    )
    return held.length === 0
  }
  assert(
    await eventually(isFree, { within_ms: 20_000 }),
    'no transaction stays open while attempts wait',
  )
  assert(performance.now() - started < 12_000, 'sooner than an attempt times out')
  assert(
    await eventually(async () => (await attemptsOf(url, person.bearer, id)).length === 20, {
      within_ms: 20_000,
    }),
  )
})

test('twenty endpoints that hang with a backlog do not delay a new one', async () => {
  const hanging = await startTcpServer((socket) => socket.on('error', () => undefined))
  const owners = await Promise.all(Array.from({ length: 2 }, () => openAccount(url)))
  for (const owner of owners) {
    for (let at = 0; at < 10; at += 1) await subscribe(url, owner, { url: hanging })
    const backlog = Array.from({ length: 40 }, () => plainEvent('card.loaded'))
    await recordTestEvents(runtime, owner.account_id, backlog)
  }
  const isFull = async () => {
    const [row] = await service.owner_db.rows<{ leased: bigint }>(
      `select count(distinct d.webhook_id) as leased
         from deliveries d join webhooks w on w.id = d.webhook_id
        where w.url = $1 and d.next_attempt_at > now() + interval '90 s'`,
      [hanging],
    )
    return row?.leased === 20n
  }
  assert(await eventually(isFull, { within_ms: 10_000 }), 'each of them has an attempt')
  const { receiver, emit } = await openSubscriber()
  await emit(20)
  await receiver.waitFor(20, 12_000)
  const failed = await service.owner_db.rows(
    `select from delivery_attempts a join webhooks w on w.id = a.webhook_id where w.url = $1`,
    [hanging],
  )
  assert.deepEqual(failed, [], 'before an attempt of the others has timed out')
})

test('with two nodes, each event is sent once', async () => {
  const { database_url, data_dir } = service
  await startTestService({ database_url, data_dir })
  const { receiver, emit, waitForAttempts } = await openSubscriber()
  for (let at = 0; at < 10; at += 1) await emit(3)
  await receiver.waitFor(30)
  await waitForAttempts(20)
  assert.equal(new Set(receiver.received.map(({ event }) => event.id)).size, 30)
  assert.equal(receiver.received.length, 30)
  const sequences = receiver.received.map(({ event }) => event.sequence).toSorted((a, b) => a - b)
  assert.deepEqual(
    sequences,
    Array.from({ length: 30 }, (_, at) => at + 2),
  )
})

test('an event that commits after newer ones is still delivered', async () => {
  const [late, other] = [await openSubscriber(), await openSubscriber()]
  const stamp = () => {
    const created_at = runtime.clock.now()
    return { id: runtime.newId('evt', created_at), created_at }
  }
  await db.transaction(async (tx) => {
    const event_metadata = { livemode: false, request: null, stamp }
    await recordEvents(tx, late.account_id, [plainEvent('card.frozen')], event_metadata)
    await other.emit()
    await other.receiver.waitFor(1)
  })
  await late.receiver.waitFor(1)
})

/** A webhook whose endpoint hangs after fast responses, so the node has leased a backlog for it. */
async function withBacklog() {
  const busy = await openSubscriber()
  await busy.emit(100)
  await busy.receiver.waitFor(100)
  const open: ServerResponse[] = []
  busy.receiver.respond = (response) => void open.push(response)
  await busy.emit(300)
  // Up to 32 are sent, fewer if the machine is so slow that the first one waits for a second.
  assert(await eventually(async () => open.length > 0, { within_ms: 20_000 }))
  const hasWaiting = async () => {
    const due = await db.rows(
      'select 1 from deliveries where webhook_id = $1 and next_attempt_at <= $2',
      [busy.id, runtime.clock.now()],
    )
    return 300 - due.length > open.length
  }
  assert(await eventually(hasWaiting, { within_ms: 20_000 }), 'the node has leased more')
  /** Completes the open requests and responds to all later ones. */
  const respondToAll = () => {
    busy.receiver.respond = respondWith(200)
    for (const response of open) response.end()
  }
  return { ...busy, respondToAll }
}

const webhook_path = (id: string) => `/v1/webhooks/${id}`

test('waiting deliveries are not sent after their webhook was deleted', async () => {
  const { receiver, bearer, id, respondToAll } = await withBacklog()
  assert.equal((await send(url, 'DELETE', webhook_path(id), { bearer })).status, 204)
  await wait(200)
  const under_way = receiver.received.length
  respondToAll()
  await wait(1_500)
  assert.equal(receiver.received.length, under_way)
})

test('waiting deliveries are sent to the new URL of their webhook', async () => {
  const { receiver, bearer, id, respondToAll } = await withBacklog()
  const elsewhere = await startReceiver()
  const body = { url: elsewhere.url }
  assert.equal((await send(url, 'PATCH', webhook_path(id), { bearer, body })).status, 200)
  await wait(200)
  const under_way = receiver.received.length
  respondToAll()
  await elsewhere.waitFor(400 - under_way)
  assert.equal(receiver.received.length, under_way)
})

test('a late 410 of the old URL does not disable a webhook that has moved', async () => {
  const open: ServerResponse[] = []
  const { bearer, id, emit, receiver, waitForAttempts } = await openSubscriber({
    respond: (response) => open.push(response),
  })
  await emit()
  await receiver.waitFor(1)
  const elsewhere = await startReceiver()
  const body = { url: elsewhere.url }
  assert.equal((await send(url, 'PATCH', webhook_path(id), { bearer, body })).status, 200)
  for (const response of open) response.writeHead(410).end()
  const [attempt] = await waitForAttempts(1)
  assert.deepEqual([attempt?.response_status, attempt?.url], [410, receiver.url])
  await elsewhere.waitFor(1)
  assert.equal((await webhookOf(url, bearer, id)).status, 'enabled')
})

test('an event fanned out while its webhook is being disabled leaves no delivery', async () => {
  const { account_id, id } = await openSubscriber()
  const { clock, newId } = runtime
  const created_at = clock.now()
  const event = {
    account_id,
    id: newId('evt', created_at),
    sequence: 2n,
    type: 'card.loaded',
    severity: 'info' as const,
    message: 'It was loaded.',
    resource_id: 'card_1',
    card_id: 'card_1',
    created_at,
  }
  const gone = { account_id, id, reason: 'endpoint_gone', now: created_at } as const
  let disabling: Promise<void> | undefined
  await db.transaction(async (tx) => {
    await insertDeliveries(tx, [event], created_at)
    disabling = disableWebhook(runtime, gone)
    await wait(300)
  })
  await disabling
  assert.deepEqual(await db.rows('select 1 from deliveries where webhook_id = $1', [id]), [])
})
