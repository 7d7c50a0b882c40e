import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewEvent } from '#domain/context/context.ts'
import { makeStamp } from '#domain/context/stamp.ts'
import { type EventMetadata, recordEvents } from '#domain/events/record_events.ts'
import { idTimeMs } from '#kernel/id.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { behind } from '#test/support/clock.ts'
import { send } from '#test/support/http.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime, owner_db } = await startTestService()
const { db, clock } = runtime

type EventRow = {
  id: string
  sequence: bigint | null
  type: string
  activity_type: string | null
  severity: string
  body: string | null
  created_at: Date
}

const event_metadata: EventMetadata = {
  livemode: false,
  request: null,
  stamp: makeStamp(runtime, 'evt'),
}

const loaded: NewEvent = {
  type: 'card.loaded',
  message: '25.50 USD loaded.',
  resource: { type: 'card', id: 'card_1' },
  object: { id: 'card_1', note: 'ünïcode "quoted"' },
  card_id: 'card_1',
  amount_micros: 25_500_000n,
  previous_attributes: { balance_usd: 0 },
}
const unfrozen: NewEvent = {
  type: 'card.unfrozen',
  message: 'Unfrozen.',
  resource: { type: 'card', id: 'card_1' },
  object: null,
}

const record = (tx: Tx, account_id: string, events: readonly NewEvent[]) =>
  recordEvents(tx, account_id, events, event_metadata)

/** In id order, which is the order of lists. */
const eventsOf = (account_id: string) =>
  db.rows<EventRow>('select * from events where account_id = $1 order by id', [account_id])

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => BigInt(from + at))

test('50 concurrent transactions number their events without gaps, in id order', async () => {
  const { account_id } = await openAccount(url)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, at) =>
      db.transaction(async (tx) => {
        await record(tx, account_id, at % 3 === 0 ? [loaded, loaded] : [loaded])
        // Every fifth transaction rolls back after it has reserved its numbers.
        if (at % 5 === 4) throw new Error('rolled back')
      }),
    ),
  )
  const kept = outcomes.flatMap(({ status }, at) =>
    status === 'fulfilled' ? [at % 3 === 0 ? 2 : 1] : [],
  )
  assert.equal(kept.length, 40)
  const total = kept.reduce((sum, count) => sum + count, 1)
  const sequences = (await eventsOf(account_id)).map(({ sequence }) => sequence)
  assert.deepEqual(sequences, range(1, total))
})

test('events of nodes whose clocks differ by seconds sort in the order of their commits', async () => {
  const { account_id } = await openAccount(url)
  const late = {
    ...event_metadata,
    stamp: makeStamp({ ...runtime, clock: behind(clock, 20_000) }, 'evt'),
  }
  for (const metadata of [late, event_metadata, late, late, event_metadata, late]) {
    const events = [loaded, unfrozen]
    await db.transaction((tx) => recordEvents(tx, account_id, events, metadata))
  }
  const rows = await eventsOf(account_id)
  const numbers = rows.map(({ sequence }) => sequence).filter((sequence) => sequence !== null)
  assert.deepEqual(numbers, range(1, 7))
  for (const { id, created_at } of rows) assert.equal(idTimeMs(id), created_at.getTime())
})

test('concurrent API calls number their events without gaps', async () => {
  const { account_id, email } = await openAccount(url)
  const body = { email, password: PASSWORD }
  for (let round = 0; round < 6; round += 1) {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => send(url, 'POST', '/v1/sessions', { body })),
    )
    assert(replies.every(({ status }) => status === 200))
  }
  const sequences = (await eventsOf(account_id)).map(({ sequence }) => sequence)
  assert.deepEqual(sequences, range(1, 49))
})

test('an event for the activity stream only has no sequence number and no body', async () => {
  const { account_id } = await openAccount(url)
  await db.transaction((tx) => record(tx, account_id, [unfrozen, loaded, unfrozen, loaded]))
  const [, ...events] = await eventsOf(account_id)
  assert.deepEqual(
    events.map(({ type, sequence, body }) => [type, sequence, body === null]),
    [
      ['card.unfrozen', null, true],
      ['card.loaded', 2n, false],
      ['card.unfrozen', null, true],
      ['card.loaded', 3n, false],
    ],
  )
  await db.transaction((tx) => record(tx, account_id, [loaded]))
  assert.equal((await eventsOf(account_id)).at(-1)?.sequence, 4n, 'it left no gap')
})

test('the body is the envelope of the contract with the unchanged object', async () => {
  const { account_id } = await openAccount(url)
  const request = { id: 'req_1', idempotency_key: 'key' }
  await db.transaction((tx) =>
    recordEvents(tx, account_id, [loaded], { ...event_metadata, request }),
  )
  const [, event] = await eventsOf(account_id)
  assert.deepEqual(JSON.parse(event?.body ?? ''), {
    id: event?.id,
    type: 'card.loaded',
    api_version: 'v1',
    created_at: event?.created_at.toISOString(),
    livemode: false,
    account_id,
    sequence: 2,
    request,
    data: { object: loaded.object, previous_attributes: { balance_usd: 0 } },
  })
  assert.deepEqual([event?.activity_type, event?.severity], ['card', 'info'])
})

test('each event type has its activity type, or none', async () => {
  const { account_id } = await openAccount(url)
  const expected: readonly [NewEvent['type'], string | null][] = [
    ['topup.confirmed', 'topup'],
    ['card.issued', 'card'],
    ['transaction.declined', 'spend'],
    ['dispute.opened', 'spend'],
    ['withdrawal.broadcasted', 'spend'],
    ['account.signed_in', null],
    ['system.maintenance', null],
  ]
  const events = expected.map(([type]) => ({ ...loaded, type, severity: 'error' as const }))
  await db.transaction((tx) => record(tx, account_id, events))
  const [, ...rows] = await eventsOf(account_id)
  assert.deepEqual(
    rows.map(({ type, activity_type }) => [type, activity_type]),
    expected,
  )
  assert(rows.every(({ severity }) => severity === 'error'))
})

test('a stored event cannot be updated', async () => {
  const { account_id } = await openAccount(url)
  const change = owner_db.run(`update events set body = '{}' where account_id = $1`, [account_id])
  await assert.rejects(change, /events is append-only/)
})
