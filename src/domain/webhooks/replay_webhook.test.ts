import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '#contract/webhooks.ts'
import { advance, assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { type Receiver, respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { attemptsOf, makeEvent, subscribe, webhookOf } from '#test/support/webhooks.ts'

const { url, runtime } = await startTestService()
const NO_EVENT = 'evt_01kc3z8e5xf8m9r4t2v6w7y8za'
const NO_WEBHOOK = 'wh_01kc3z8e5xf8m9r4t2v6w7y8za'

const replay = ({ bearer }: Person, id: string, eid: string, key?: string) =>
  send(url, 'POST', `/v1/webhooks/${id}/replay/${eid}`, { bearer, ...(key && { key }) })

async function waitForAttempt({ bearer }: Person, id: string): Promise<void> {
  const isRecorded = async () => (await attemptsOf(url, bearer, id)).length === 1
  assert(await eventually(isRecorded, { within_ms: 10_000 }))
}

/** An account with a webhook that has received one event. */
async function openSubscriber(): Promise<Person & { receiver: Receiver; id: string; eid: string }> {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { id } = await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  const [received] = await receiver.waitFor(1)
  await waitForAttempt(person, id)
  return { ...person, receiver, id, eid: String(received?.event.id) }
}

test('sends the same bytes with the same event id immediately and returns the attempt', async () => {
  const person = await openSubscriber()
  const { receiver, id, eid } = person
  const reply = await replay(person, id, eid)
  assert.equal(reply.status, 200, reply.text)
  const { id: attempt_id, created_at, duration_ms, ...rest } = reply.body as Record<string, unknown>
  assert.match(String(attempt_id), /^dlv_/)
  assert.match(String(created_at), /Z$/)
  assert(Number.isInteger(duration_ms))
  assert.deepEqual(rest, {
    event_id: eid,
    event_type: 'account.signed_in',
    webhook_id: id,
    attempt: 2,
    trigger: 'replay',
    url: receiver.url,
    status: 'succeeded',
    response_status: 200,
    response_excerpt: 'ok',
    error: null,
    next_attempt_at: null,
  })
  const [first, second] = receiver.received
  assert.equal(second?.body, first?.body)
  assert.equal(second?.headers['service-event-id'], eid)
  const attempts = await attemptsOf(url, person.bearer, id)
  assert.deepEqual(
    attempts.map(({ attempt, trigger }) => [attempt, trigger]),
    [
      [1, 'automatic'],
      [2, 'replay'],
    ],
  )
  const [entry] = await auditLog(url, person.bearer, '&action=replay_webhook')
  assert.deepEqual(entry?.resource, { type: 'webhook', id })
})

test('returns 200 with the failed attempt if the endpoint fails', async () => {
  const person = await openSubscriber()
  person.receiver.respond = respondWith(500, {}, 'x'.repeat(5_000))
  const { status, body } = await replay(person, person.id, person.eid)
  assert.equal(status, 200)
  assert.deepEqual([body['status'], body['response_status']], ['failed', 500])
  assert.equal(String(body['response_excerpt']).length, 1_024)
  const { failing_since } = await webhookOf(url, person.bearer, person.id)
  assert.equal(failing_since, null, 'only scheduled attempts count as failing')
})

test('a successful replay cancels the retry, a failed one does not', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  receiver.respond = respondWith(500)
  const { id } = await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  const [received] = await receiver.waitFor(1)
  const eid = String(received?.event.id)
  await waitForAttempt(person, id)
  const failed = await replay(person, id, eid)
  assert.match(String(failed.body['next_attempt_at']), /Z$/)
  receiver.respond = respondWith(200)
  const succeeded = await replay(person, id, eid)
  assert.deepEqual([succeeded.body['attempt'], succeeded.body['next_attempt_at']], [3, null])
  await advance(url, person.bearer, 86_400)
  assert.equal(receiver.received.length, 3)
  const { failing_since } = await webhookOf(url, person.bearer, id)
  assert.equal(failing_since, null)
})

test('a disabled webhook can be replayed to, so its endpoint can be tested', async () => {
  const person = await openSubscriber()
  const { bearer, id, eid } = person
  await send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer, body: { status: 'disabled' } })
  assert.equal((await replay(person, id, eid)).body['status'], 'succeeded')
  assert.equal((await webhookOf(url, bearer, id)).status, 'disabled')
})

test('a 410 response to a replay disables the webhook', async () => {
  const person = await openSubscriber()
  person.receiver.respond = respondWith(410)
  const { status } = await replay(person, person.id, person.eid)
  assert.equal(status, 200)
  const webhook = await webhookOf(url, person.bearer, person.id)
  assert.deepEqual([webhook.status, webhook.disabled_reason], ['disabled', 'endpoint_gone'])
})

test('a late 410 of the old URL does not disable a webhook that moves during a replay', async () => {
  const person = await openSubscriber()
  const { bearer, id, eid } = person
  const elsewhere = await startReceiver()
  person.receiver.respond = (response) => {
    const body = { url: elsewhere.url }
    void send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer, body }).then(() =>
      response.writeHead(410).end(),
    )
  }
  assert.equal((await replay(person, id, eid)).body['response_status'], 410)
  assert.equal((await webhookOf(url, bearer, id)).status, 'enabled')
})

test("another account's event or webhook gets the same response as a missing one", async () => {
  const [person, stranger] = [await openSubscriber(), await openSubscriber()]
  const missing = refusalOf(await replay(person, NO_WEBHOOK, person.eid))
  assert.equal(missing['error'], 'not_found')
  assert.deepEqual(refusalOf(await replay(stranger, person.id, stranger.eid)), missing)
  const no_event = refusalOf(await replay(person, person.id, NO_EVENT))
  assert.equal(no_event['error'], 'not_found')
  assert.deepEqual(refusalOf(await replay(person, person.id, stranger.eid)), no_event)
  assert.equal(person.receiver.received.length, 1)
})

test('a repeat with the same Idempotency-Key sends nothing', async () => {
  const person = await openSubscriber()
  const first = await replay(person, person.id, person.eid, 'replay-1')
  const second = await replay(person, person.id, person.eid, 'replay-1')
  assert.deepEqual(second.body, first.body)
  assert.equal(person.receiver.received.length, 2)
})

test('two replays at the same time under one Idempotency-Key send once', async () => {
  const person = await openSubscriber()
  let respond: (() => void) | undefined
  person.receiver.respond = (response) => {
    respond = () => response.end()
  }
  const first = replay(person, person.id, person.eid, 'replay-2')
  await person.receiver.waitFor(2)
  const second = await replay(person, person.id, person.eid, 'replay-2')
  assertRefused(second, 409, 'idempotency_in_progress')
  respond?.()
  assert.equal((await first).status, 200)
  assert.deepEqual(
    (await replay(person, person.id, person.eid, 'replay-2')).body,
    (await first).body,
  )
  assert.equal(person.receiver.received.length, 2)
})

test('holds no database connection while the endpoint is slow', async () => {
  const person = await openSubscriber()
  const waiting: (() => void)[] = []
  person.receiver.respond = (response) => void waiting.push(() => response.end())
  // More replays than the pool has connections.
  const replays = Array.from({ length: 24 }, () => replay(person, person.id, person.eid))
  await person.receiver.waitFor(25)
  assert.equal((await runtime.db.rows('select 1')).length, 1)
  for (const respond of waiting) respond()
  for (const reply of await Promise.all(replays)) assert.equal(reply.status, 200)
})

test('after 30 days an event cannot be replayed and its attempts are deleted', async () => {
  const person = await openSubscriber()
  await advance(url, person.bearer, 30 * 86_400 - 60)
  const fresh = await send(url, 'POST', '/v1/sessions', {
    body: { email: person.email, password: 'a long enough password' },
  })
  const bearer = String(fresh.body['bearer'])
  assert.equal((await replay({ ...person, bearer }, person.id, person.eid)).status, 200)
  const isFirst = ({ event_id, trigger }: Delivery) =>
    event_id === person.eid && trigger === 'automatic'
  const isShown = async () => (await attemptsOf(url, bearer, person.id)).some(isFirst)
  assert(await isShown())
  await advance(url, bearer, 120)
  assertRefused(await replay({ ...person, bearer }, person.id, person.eid), 410, 'event_expired')
  assert(await eventually(async () => !(await isShown()), { within_ms: 12_000 }))
})
