import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { attemptsOf, makeEvent, subscribe, webhooksOf } from '#test/support/webhooks.ts'

const { url } = await startTestService()

const list = (bearer: string, query = '') => send(url, 'GET', `/v1/webhooks${query}`, { bearer })
const idsOf = async ({ bearer }: Person, query = '') =>
  ((await list(bearer, query)).body['data'] as unknown as { id: string }[]).map(({ id }) => id)

test('lists webhooks without their secrets, newest first, in pages', async () => {
  const person = await openAccount(url)
  const created: string[] = []
  for (let at = 0; at < 3; at += 1) {
    created.unshift((await subscribe(url, person, { url: `https://shop.example/${at}` })).id)
  }
  assert.deepEqual(await idsOf(person), created)
  const first = await list(person.bearer, '?limit=2')
  assert.equal(first.body['has_more'], true)
  assert(!first.text.includes('"secret"'))
  assert(!first.text.includes('recent_deliveries'))
  const next = await idsOf(person, `?limit=2&cursor=${String(first.body['next_cursor'])}`)
  assert.deepEqual(next, created.slice(2))
  assert.deepEqual(await idsOf(person, '?order=asc'), created.toReversed())
})

test('filters by status and by event type, including webhooks subscribed to *', async () => {
  const person = await openAccount(url)
  const { bearer } = person
  const hook = 'https://shop.example/hook'
  const all = (await subscribe(url, person, { url: hook, events: ['*'] })).id
  const cards = (await subscribe(url, person, { url: hook, events: ['card.loaded'] })).id
  const challenges = await subscribe(url, person, { url: hook, events: ['three_ds.challenge'] })
  const body = { status: 'disabled' }
  await send(url, 'PATCH', `/v1/webhooks/${cards}`, { bearer, body })
  assert.deepEqual(await idsOf(person, '?status=disabled'), [cards])
  assert.deepEqual(await idsOf(person, '?event=card.loaded'), [cards, all])
  assert.deepEqual(await idsOf(person, '?event=card.frozen'), [all])
  assert.deepEqual(await idsOf(person, '?event=three_ds.challenge'), [challenges.id])
  assert.deepEqual(await idsOf(person, '?event=card.frozen,three_ds.challenge'), [
    challenges.id,
    all,
  ])
  assertRefused(await list(bearer, '?status=paused'), 400, 'invalid_request')
  const mistyped = await list(bearer, '?event=card.loaded,card.load')
  assertRefused(mistyped, 400, 'invalid_request')
  assert.match(String(mistyped.body['message']), /card\.load\.$/)
  assertRefused(await list(bearer, '?url=x'), 400, 'unknown_parameter')
})

test('expand=deliveries adds the last 20 attempts, newest first', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { id } = await subscribe(url, person, { url: receiver.url })
  for (let at = 0; at < 22; at += 1) await makeEvent(url, person)
  await receiver.waitFor(22)
  const last_event_id = receiver.received.at(-1)?.event.id
  const isRecorded = async () => {
    const attempts = await attemptsOf(url, person.bearer, id)
    return attempts.length === 20 && attempts.some(({ event_id }) => event_id === last_event_id)
  }
  assert(await eventually(isRecorded, { within_ms: 10_000 }))
  const [webhook] = await webhooksOf(url, person.bearer)
  const recent = webhook?.recent_deliveries ?? []
  assert.equal(recent.length, 20)
  assert.deepEqual(
    recent.map(({ id }) => id),
    recent
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  )
  const last = recent.find(({ event_id }) => event_id === last_event_id)
  assert.match(last?.id ?? '', /^dlv_/)
  assert.match(last?.created_at ?? '', /Z$/)
  assert(Number.isInteger(last?.duration_ms))
  const { id: _id, created_at: _at, duration_ms: _ms, event_id: _event, ...rest } = last ?? {}
  assert.deepEqual(rest, {
    event_type: 'account.signed_in',
    webhook_id: id,
    attempt: 1,
    trigger: 'automatic',
    url: receiver.url,
    status: 'succeeded',
    response_status: 200,
    response_excerpt: 'ok',
    error: null,
    next_attempt_at: null,
  })
  assert.equal(webhook?.failing_since, null)
  assert.match(webhook?.last_delivery_at ?? '', /Z$/)
})

test("another account's webhooks are not listed", async () => {
  const [person, stranger] = [await openAccount(url), await openAccount(url)]
  await subscribe(url, person, { url: 'https://shop.example/hook' })
  assert.deepEqual(await idsOf(stranger), [])
})
