import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { type ActivityStream, followActivity } from '#test/support/stream.ts'

const { first, second } = await startTwoNodes()
const { url, runtime, owner_db } = first
const opened: ActivityStream[] = []
after(() => {
  for (const each of opened) each.close()
})

async function follow(...asked: Parameters<typeof followActivity>): Promise<ActivityStream> {
  const followed = await followActivity(...asked)
  opened.push(followed)
  return followed
}

const namesOf = (events: readonly { event: string }[]) => events.map(({ event }) => event)

test('an event arrives within a second, on any node, as get_activity shows it', async () => {
  const { bearer, account_id } = await openAccount(url)
  const streams = [await follow(url, bearer), await follow(second.url, bearer)]
  for (const { status, headers } of streams) {
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.match(String(headers['request-id']), /^req_/)
    assert.ok(headers['ratelimit'])
  }
  await recordTestEvents(runtime, account_id, [
    plainEvent('card.loaded'),
    plainEvent('topup.confirmed'),
  ])
  const { body } = await send(url, 'GET', '/v1/activity?order=asc', { bearer })
  for (const stream of streams) assert.deepEqual(await stream.waitForEvents(2), body['data'])
})

test('has no events of other accounts and nothing outside the activity', async () => {
  const ada = await openAccount(url)
  const bob = await openAccount(url)
  const stream = await follow(url, bob.bearer)
  await recordTestEvents(runtime, ada.account_id, [plainEvent('card.loaded')])
  await recordTestEvents(runtime, bob.account_id, [plainEvent('account.signed_in')])
  await recordTestEvents(runtime, bob.account_id, [plainEvent('card.frozen')])
  assert.deepEqual(namesOf(await stream.waitForEvents(1)), ['card.frozen'])
})

test('continues after the last received event, without a gap or a repeat', async () => {
  const { bearer, account_id } = await openAccount(url)
  await recordTestEvents(runtime, account_id, [plainEvent('card.issued')])
  const before = await follow(url, bearer)
  await recordTestEvents(runtime, account_id, [plainEvent('card.loaded')])
  const [received] = await before.waitForEvents(1)
  before.close()
  const missed = Array.from({ length: 250 }, (_, at) =>
    plainEvent('card.frozen', { message: `${at}` }),
  )
  await recordTestEvents(runtime, account_id, missed)
  const again = await follow(second.url, bearer, { last: received?.id ?? '' })
  await recordTestEvents(runtime, account_id, [plainEvent('card.cancelled')])
  const events = await again.waitForEvents(251, 5_000)
  const expected = [...missed.map(({ message }) => message), 'It was card.cancelled.']
  assert.deepEqual(
    events.map(({ message }) => message),
    expected,
  )
})

test('a stream that ended before any event resumes without a gap, in a new account too', async () => {
  const { bearer, account_id } = await openAccount(url)
  const resume = async (missed: 'card.issued' | 'card.loaded', last: string) => {
    const stream = await follow(second.url, bearer, { last })
    assert.deepEqual(namesOf(await stream.waitForEvents(1)), [missed])
    stream.close()
  }
  for (const missed of ['card.issued', 'card.loaded'] as const) {
    const silent = await follow(url, bearer)
    const isOpen = async () => silent.text().includes('\n\n')
    assert.ok(await eventually(isOpen, { within_ms: 5_000 }))
    silent.close()
    const [, last = ''] = /^id: (.*)$/m.exec(silent.text()) ?? []
    await recordTestEvents(runtime, account_id, [plainEvent(missed)])
    await resume(missed, last)
  }
})

test('events that are written while it is read arrive once each, in order', async () => {
  const { bearer, account_id } = await openAccount(url)
  const stream = await follow(second.url, bearer)
  const writers = Array.from({ length: 20 }, (_, at) =>
    recordTestEvents(
      runtime,
      account_id,
      Array(5).fill(plainEvent('card.loaded', { message: `${at}` })),
    ),
  )
  await Promise.all(writers)
  const ids = (await stream.waitForEvents(100, 3_000)).map(({ id }) => id)
  assert.equal(new Set(ids).size, 100)
  assert.deepEqual(ids, [...ids].sort())
})

test('a reader who stops reading loses nothing and holds up nobody', async () => {
  const { bearer, account_id } = await openAccount(url)
  const slow = await follow(url, bearer)
  const quick = await follow(url, bearer)
  slow.pause()
  const long = plainEvent('card.loaded', { message: 'x'.repeat(4_000) })
  for (let round = 0; round < 20; round += 1) {
    await recordTestEvents(runtime, account_id, Array(100).fill(long))
  }
  assert.equal((await quick.waitForEvents(2_000, 30_000)).length, 2_000)
  assert.ok(slow.events().length < 2_000)
  slow.resume()
  assert.equal((await slow.waitForEvents(2_000, 30_000)).length, 2_000)
})

test('the stream of a revoked key ends immediately on every node, with the reason', async () => {
  const { bearer, account_id } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  const streams = [await follow(url, key), await follow(second.url, key)]
  const other = await follow(url, bearer)
  const started = performance.now()
  await send(url, 'DELETE', `/v1/api_keys/${id}`, { bearer })
  await Promise.all(streams.map(({ ended }) => ended))
  assert.ok(performance.now() - started < 1_000)
  for (const { text } of streams) assert.match(text(), /event: ended\ndata: .*"token_revoked"/)
  await recordTestEvents(runtime, account_id, [plainEvent('card.loaded')])
  assert.equal((await other.waitForEvents(1)).length, 1, 'the others go on')
})

test('a session that ends takes its streams with it', async () => {
  const { bearer } = await openAccount(url)
  const stream = await follow(url, bearer)
  await send(url, 'DELETE', '/v1/sessions', { bearer })
  await stream.ended
})

test('is refused like any call: without a bearer, with a filter, with a wrong id', async () => {
  const { bearer } = await openAccount(url)
  const path = '/v1/activity/stream'
  const nameless = await send(url, 'GET', path)
  assertRefused(nameless, 401, 'missing_token')
  assert.match(nameless.headers.get('www-authenticate') ?? '', /resource_metadata=/)
  assertRefused(await send(url, 'GET', `${path}?type=card`, { bearer }), 400, 'unknown_parameter')
  const headers = { 'last-event-id': 'evt_1' }
  assertRefused(await send(url, 'GET', path, { bearer, headers }), 400, 'invalid_request')
  assertRefused(await send(url, 'POST', path, { bearer, body: {} }), 405, 'method_not_allowed')
})

test('the eleventh stream of a credential is refused until one is closed', async () => {
  const { bearer } = await openAccount(url)
  const streams = await Promise.all(Array.from({ length: 10 }, () => follow(url, bearer)))
  const eleventh = await send(url, 'GET', '/v1/activity/stream', { bearer })
  assertRefused(eleventh, 429, 'rate_limited')
  assert.ok(eleventh.headers.get('retry-after'))
  streams[0]?.close()
  const isOpen = async () => (await follow(url, bearer)).status === 200
  assert(await eventually(isOpen, { within_ms: 1_000 }))
})

/** Two nodes, each with 12 connections for the service, 12 for accounts and a few others. */
const POOLS_OF_BOTH_NODES = 66

const connections = async () => {
  const [row] = await owner_db.rows<{ all: bigint; busy: bigint }>(
    `select count(*) as all, count(*) filter (where state <> 'idle') as busy
       from pg_stat_activity where datname = current_database()`,
  )
  return { all: Number(row?.all), busy: Number(row?.busy) }
}

test('a hundred idle streams hold no connection to the database', async () => {
  const before = await connections()
  const people = []
  for (let at = 0; at < 10; at += 1) people.push(await openAccount(url))
  const streams: ActivityStream[] = []
  for (const { bearer } of people) {
    for (let at = 0; at < 10; at += 1) streams.push(await follow(url, bearer))
  }
  assert(streams.every(({ status }) => status === 200))
  const isQuiet = async () => (await connections()).busy <= 1
  assert(await eventually(isQuiet, { within_ms: 20_000 }))
  const { all } = await connections()
  assert.ok(
    all <= Math.max(before.all, POOLS_OF_BOTH_NODES),
    `${all} connections, ${before.all} before`,
  )
  const [ada] = people
  await recordTestEvents(runtime, ada?.account_id ?? '', [plainEvent('card.loaded')])
  const received = await Promise.all(streams.slice(0, 10).map((stream) => stream.waitForEvents(1)))
  assert(received.every(({ length }) => length === 1))
  for (const stream of streams) stream.close()
})

test('ends immediately when the service stops', async () => {
  const { bearer } = await openAccount(url)
  const stream = await follow(second.url, bearer)
  const started = performance.now()
  await Promise.all([second.stop(), stream.ended])
  assert.ok(performance.now() - started < 5_000)
})
