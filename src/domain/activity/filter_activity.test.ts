import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityEvent } from '#contract/activity.ts'
import { assertRefused } from '#test/support/calls.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime } = await startTestService()
const { bearer, account_id } = await openAccount(url)
const card_id = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'
await recordTestEvents(runtime, account_id, [
  plainEvent('topup.created'),
  plainEvent('topup.error', { severity: 'error' }),
  plainEvent('card.issued', { card_id }),
  plainEvent('transaction.declined', { card_id, severity: 'error' }),
  plainEvent('webhook.disabled', { severity: 'error', object: null }),
])

const filter = (query: string) => send(url, 'GET', `/v1/activity?order=asc&${query}`, { bearer })
const eventsOf = async (query: string) => {
  const { status, body, text } = await filter(query)
  assert.equal(status, 200, text)
  return (body['data'] as unknown as ActivityEvent[]).map(({ event }) => event)
}

test('type limits the stream to one or more types', async () => {
  assert.deepEqual(await eventsOf('type=topup'), ['topup.created', 'topup.error'])
  assert.deepEqual(await eventsOf('type=spend'), ['transaction.declined'])
  assert.deepEqual(await eventsOf('type=topup,card'), [
    'topup.created',
    'topup.error',
    'card.issued',
  ])
})

test('type=error lists every failure, and each keeps its own type', async () => {
  const { body } = await filter('type=error')
  const rows = body['data'] as unknown as ActivityEvent[]
  assert.deepEqual(
    rows.map(({ event, type, severity }) => [event, type, severity]),
    [
      ['topup.error', 'topup', 'error'],
      ['transaction.declined', 'spend', 'error'],
      ['webhook.disabled', 'error', 'error'],
    ],
  )
  assert.deepEqual(await eventsOf('type=error,card'), [
    'topup.error',
    'card.issued',
    'transaction.declined',
    'webhook.disabled',
  ])
})

test('type combines with the other filters', async () => {
  assert.deepEqual(await eventsOf(`type=error&card_id=${card_id}`), ['transaction.declined'])
  assert.deepEqual(await eventsOf('type=topup&event=topup.error'), ['topup.error'])
  const first = await filter('type=error&limit=1')
  const cursor = String(first.body['next_cursor'])
  assert.deepEqual(await eventsOf(`type=error&limit=1&cursor=${cursor}`), ['transaction.declined'])
  assertRefused(await filter(`type=topup&cursor=${cursor}`), 400, 'invalid_cursor')
})

test('an unknown type is refused', async () => {
  assertRefused(await filter('type=refund'), 400, 'invalid_request')
  assertRefused(await filter('type='), 400, 'invalid_request')
})
