import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityEvent } from '#contract/activity.ts'
import { activity_only_types } from '#contract/events.ts'
import { scopes } from '#contract/scopes.ts'
import { activityAfter } from '#domain/activity/follow_activity.ts'
import type { Caller } from '#domain/context/context.ts'
import { invoke } from '#operations/invoke.ts'
import { assertRefused } from '#test/support/calls.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { send } from '#test/support/http.ts'
import { callTool } from '#test/support/mcp.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime } = await startTestService()
const CARD = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'
const OTHER_CARD = 'card_01kc3z8e5xf8m9r4t2v6w7y8zb'

async function read(bearer: string, query = ''): Promise<ActivityEvent[]> {
  const reply = await send(url, 'GET', `/v1/activity${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data'] as unknown as ActivityEvent[]
}

const eventsOf = (rows: readonly ActivityEvent[]) => rows.map(({ event }) => event)

/** Has one event or more of every activity type. */
async function busyAccount() {
  const person = await openAccount(url)
  await recordTestEvents(runtime, person.account_id, [
    plainEvent('topup.created'),
    plainEvent('topup.confirmed', { amount_micros: 25_500_000n }),
    plainEvent('card.issued', { card_id: CARD }),
    plainEvent('card.unfrozen', { card_id: CARD, object: null }),
    plainEvent('transaction.authorized', { card_id: CARD }),
    plainEvent('transaction.declined', { card_id: OTHER_CARD, severity: 'error' }),
    plainEvent('dispute.opened', { card_id: CARD }),
    plainEvent('withdrawal.broadcasted'),
    plainEvent('webhook.disabled', { severity: 'error', object: null }),
  ])
  return person
}

test('the tool takes a type, as the REST route does', async () => {
  const { bearer } = await busyAccount()
  const listed = async (type: string) => {
    const { structuredContent } = await callTool(url, 'get_activity', { type }, bearer)
    return eventsOf(structuredContent['data'] as ActivityEvent[])
  }
  assert.deepEqual(await listed('topup'), ['topup.confirmed', 'topup.created'])
  assert.deepEqual(await listed('topup,error'), [
    'webhook.disabled',
    'transaction.declined',
    'topup.confirmed',
    'topup.created',
  ])
})

test('the stream shows top-ups, cards and spending, newest first', async () => {
  const { bearer } = await busyAccount()
  const rows = await read(bearer)
  assert.deepEqual(
    rows.map(({ event, type, sequence }) => [event, type, sequence]),
    [
      ['webhook.disabled', 'error', null],
      ['withdrawal.broadcasted', 'spend', 8],
      ['dispute.opened', 'spend', 7],
      ['transaction.declined', 'spend', 6],
      ['transaction.authorized', 'spend', 5],
      ['card.unfrozen', 'card', null],
      ['card.issued', 'card', 4],
      ['topup.confirmed', 'topup', 3],
      ['topup.created', 'topup', 2],
    ],
  )
  const { id, created_at, ...confirmed } = rows[7] ?? ({} as ActivityEvent)
  assert.match(id, /^evt_/)
  assert.match(created_at, /Z$/)
  assert.deepEqual(confirmed, {
    type: 'topup',
    event: 'topup.confirmed',
    message: 'It was topup.confirmed.',
    severity: 'info',
    card_id: null,
    amount_usd: 25.5,
    resource: { type: 'topup', id: 'topup_1' },
    sequence: 3,
  })
})

test('the stream can be filtered by card and by event', async () => {
  const { bearer } = await busyAccount()
  const of_card = eventsOf(await read(bearer, `?card_id=${CARD}&order=asc`))
  assert.deepEqual(of_card, [
    'card.issued',
    'card.unfrozen',
    'transaction.authorized',
    'dispute.opened',
  ])
  const both = await read(bearer, `?card_id=${CARD},${OTHER_CARD}&event=transaction.declined`)
  assert.deepEqual(eventsOf(both), ['transaction.declined'])
  const reply = await send(url, 'GET', '/v1/activity?severity=error', { bearer })
  assertRefused(reply, 400, 'unknown_parameter')
  for (const event of activity_only_types) await read(bearer, `?event=${event}`)
  const mistyped = await send(url, 'GET', '/v1/activity?event=card.load', { bearer })
  assertRefused(mistyped, 400, 'invalid_request')
})

test('pages neither repeat nor skip while events are being added', async () => {
  const { bearer, account_id } = await busyAccount()
  const seen: string[] = []
  let query = '?limit=2'
  for (;;) {
    const { body } = await send(url, 'GET', `/v1/activity${query}`, { bearer })
    seen.push(...eventsOf(body['data'] as unknown as ActivityEvent[]))
    if (body['has_more'] !== true) break
    query = `?limit=2&cursor=${String(body['next_cursor'])}`
    await recordTestEvents(runtime, account_id, [plainEvent('card.loaded')])
  }
  assert.equal(seen.length, 9)
  assert(!seen.includes('card.loaded'))
})

test("one account does not see another's activity", async () => {
  await busyAccount()
  const { bearer } = await openAccount(url)
  assert.deepEqual(await read(bearer), [])
})

const tokenOf = (
  account_id: string,
  held: readonly string[],
  card_ids: string[] | null,
): Caller => ({
  kind: 'oauth_client',
  id: 'client_1',
  name: null,
  account_id,
  scopes: new Set(held as (keyof typeof scopes)[]),
  card_ids,
  rate_profile: null,
})

/** The events a token with these scopes sees, the same in get_activity and in the live stream. */
async function readWithToken(
  account_id: string,
  held: readonly string[],
  card_ids: string[] | null = null,
): Promise<string[]> {
  const caller = tokenOf(account_id, held, card_ids)
  const credentials = { ...runtime.credentials, callerOf: async () => caller }
  const request = {
    id: 'req_1',
    ip: '127.0.0.1',
    user_agent: 'test',
    idempotency_key: null,
    header: () => null,
  }
  const response = await invoke(
    { ...runtime, credentials, cells: null },
    { operation: 'get_activity', bearer: 'token', request, readInput: () => ({ order: 'asc' }) },
  )
  assert.equal(response.status, 200, response.body)
  const followed = await activityAfter(runtime.db, caller, '')
  assert.deepEqual(followed.events, JSON.parse(response.body).data)
  return eventsOf(followed.events)
}

test('a token only sees the events of its scopes', async () => {
  const { account_id } = await busyAccount()
  assert.deepEqual(await readWithToken(account_id, ['topup:read', 'system:read']), [
    'topup.created',
    'topup.confirmed',
  ])
  assert.deepEqual(await readWithToken(account_id, ['card:read']), ['card.issued', 'card.unfrozen'])
  const spending = ['transaction.authorized', 'transaction.declined', 'dispute.opened']
  assert.deepEqual(await readWithToken(account_id, ['transaction:read']), spending)
  assert.deepEqual(await readWithToken(account_id, ['transaction:read', 'withdrawal:read']), [
    ...spending,
    'withdrawal.broadcasted',
  ])
})

test('a token for one card only sees events of that card', async () => {
  const { account_id } = await busyAccount()
  const held = Object.keys(scopes)
  assert.deepEqual(await readWithToken(account_id, held, [OTHER_CARD]), ['transaction.declined'])
  assert.deepEqual(await readWithToken(account_id, held, []), [])
})
