import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'
import {
  type CompletedAttempt,
  claimDue,
  insertDeliveries,
  type LeasedDelivery,
  recordAttempts,
  releaseDeliveries,
} from './delivery_store.ts'

const { url, runtime, owner_db } = await startTestService()
const { db, clock, newId } = runtime

/** Deliveries are due tomorrow, so the running service leaves them to the test. */
const tomorrow = clock.now().getTime() + 86_400_000
const at = (seconds: number) => new Date(tomorrow + seconds * 1_000)

async function insertDelivery() {
  const person = await openAccount(url)
  const { account_id } = person
  const webhook = await subscribe(url, person, {
    url: 'https://a.example/',
    events: ['card.frozen'],
  })
  await recordTestEvents(runtime, account_id, [plainEvent('card.loaded')])
  const [event] = await db.rows<{ id: string }>(
    `select id from events where account_id = $1 and type = 'card.loaded'`,
    [account_id],
  )
  const key = [account_id, webhook.id, event?.id]
  await owner_db.run(
    `insert into deliveries (account_id, webhook_id, event_id, next_attempt_at)
     values ($1, $2, $3, $4)`,
    [...key, at(0)],
  )
  const read = async () => {
    const [row] = await db.rows<{ attempts: number; next_attempt_at: Date }>(
      `select attempts, next_attempt_at from deliveries
        where account_id = $1 and webhook_id = $2 and event_id = $3`,
      key,
    )
    return row
  }
  /** The delivery as a node leases it, for a minute. */
  const lease = async (seconds: number): Promise<LeasedDelivery> => {
    const claimed = await claimDue(db, {
      after: { account_id: '', webhook_id: '' },
      limit: 1_000,
      endpoint_max: 10,
      failing_max: 10,
      known: [],
      now: at(seconds),
      leased_until: at(seconds + 60),
    })
    const own = claimed.find((one) => one.webhook_id === webhook.id)
    assert.ok(own, 'the delivery is leased')
    return own
  }
  return { read, lease }
}

const failure = (leased: LeasedDelivery, seconds: number): CompletedAttempt => ({
  account_id: leased.account_id,
  webhook_id: leased.webhook_id,
  event_id: leased.event_id,
  event_type: leased.event_type,
  url: leased.url,
  attempts: leased.attempts,
  id: newId('dlv', clock.now()),
  status: 'failed',
  response_status: 500,
  response_excerpt: null,
  error: null,
  duration_ms: 1,
  created_at: clock.now(),
  next_attempt_at: at(seconds),
})

test('an outcome that arrives after its lease ended changes no later attempt', async () => {
  const { read, lease } = await insertDelivery()
  const slow = await lease(1)
  const fast = await lease(62)
  await recordAttempts(db, [failure(fast, 300)])
  assert.deepEqual(await read(), { attempts: 1, next_attempt_at: at(300) })
  await recordAttempts(db, [failure(slow, 900)])
  assert.deepEqual(await read(), { attempts: 1, next_attempt_at: at(300) })
})

test('a failure at the old URL of a webhook that has moved begins no series of failures', async () => {
  const { lease } = await insertDelivery()
  const leased = await lease(1)
  const key = [leased.account_id, leased.webhook_id]
  const failingSince = async () => {
    const [row] = await db.rows<{ failing_since: Date | null }>(
      'select failing_since from webhooks where account_id = $1 and id = $2',
      key,
    )
    return row?.failing_since
  }
  await owner_db.run('update webhooks set url = $3 where account_id = $1 and id = $2', [
    ...key,
    'https://b.example/',
  ])
  await recordAttempts(db, [failure(leased, 300)])
  assert.equal(await failingSince(), null)
  const moved = { ...(await lease(301)), url: 'https://b.example/' }
  const failed = failure(moved, 600)
  await recordAttempts(db, [failed])
  assert.deepEqual(await failingSince(), failed.created_at)
})

test('a stopping node does not make a delivery due that another node has attempted', async () => {
  const { read, lease } = await insertDelivery()
  const slow = await lease(1)
  const fast = await lease(62)
  await recordAttempts(db, [failure(fast, 300)])
  await releaseDeliveries(db, [slow], at(70))
  assert.deepEqual(await read(), { attempts: 1, next_attempt_at: at(300) })
})

test('a stopping node makes its own deliveries due again', async () => {
  const { read, lease } = await insertDelivery()
  const leased = await lease(1)
  assert.deepEqual(await read(), { attempts: 0, next_attempt_at: at(61) })
  await releaseDeliveries(db, [leased], at(2))
  assert.deepEqual(await read(), { attempts: 0, next_attempt_at: at(2) })
})

/** Two webhooks of an account, and events of it that no consumer has seen. */
async function openFanOut(count: number) {
  const person = await openAccount(url)
  const { account_id } = person
  const hook = { url: 'https://a.example/', events: ['card.frozen'] }
  const ids: string[] = []
  for (let made = 0; made < 2; made += 1) ids.push((await subscribe(url, person, hook)).id)
  const types = Array.from({ length: count }, () => plainEvent('card.loaded'))
  await recordTestEvents(runtime, account_id, types)
  const events = await db.rows<OutboxEvent>(
    `select account_id, id, sequence, 'card.frozen' as type, severity, message, resource_id,
            card_id, created_at
       from events where account_id = $1 and type = 'card.loaded' order by id`,
    [account_id],
  )
  const readDue = (webhook_id: string | undefined) =>
    db.rows<{ event_id: string; next_attempt_at: Date }>(
      `select event_id, next_attempt_at from deliveries
        where account_id = $1 and webhook_id = $2 order by event_id`,
      [account_id, webhook_id],
    )
  return { account_id, ids, events, readDue }
}

const room_of_four = { limit: 100, endpoint_max: 4, known: [], leased_until: at(60) }

test('the oldest new deliveries that a node has room for are leased to it, the others are due', async () => {
  const { ids, events, readDue } = await openFanOut(6)
  const [roomy, full] = ids
  const known = [{ webhook_id: full ?? '', room: 1 }]
  const room = { ...room_of_four, known }
  const { leased, due } = await db.transaction((tx) => insertDeliveries(tx, events, at(0), room))
  const leasedOf = (id: string | undefined) =>
    leased.filter(({ webhook_id }) => webhook_id === id).map(({ event_id }) => event_id)
  const event_ids = events.map(({ id }) => id)
  assert.deepEqual(leasedOf(roomy).toSorted(), event_ids.slice(0, 4))
  assert.deepEqual(leasedOf(full), event_ids.slice(0, 1))
  assert.deepEqual(due.toSorted(), ids.toSorted())
  assert.deepEqual(
    await readDue(roomy),
    event_ids.map((event_id, n) => ({ event_id, next_attempt_at: n < 4 ? at(60) : at(0) })),
  )
  for (const { body, event_id, url: to } of leased) {
    assert.equal(JSON.parse(body).id, event_id)
    assert.equal(to, 'https://a.example/')
  }
})

test('no node leases more new deliveries than it can hold', async () => {
  const { events } = await openFanOut(6)
  const room = { ...room_of_four, limit: 3 }
  const { leased } = await db.transaction((tx) => insertDeliveries(tx, events, at(0), room))
  assert.equal(leased.length, 3)
})

test('new deliveries of a failing webhook wait until it is their turn', async () => {
  const { account_id, ids, events, readDue } = await openFanOut(2)
  const [failing, healthy] = ids
  await owner_db.run(
    'update webhooks set failing_since = now() where account_id = $1 and id = $2',
    [account_id, failing],
  )
  const { leased, due } = await db.transaction((tx) =>
    insertDeliveries(tx, events, at(0), room_of_four),
  )
  assert.deepEqual([...new Set(leased.map(({ webhook_id }) => webhook_id))], [healthy])
  assert.deepEqual(due, [failing])
  const rows = await readDue(failing)
  assert.deepEqual(
    rows.map(({ next_attempt_at }) => next_attempt_at),
    [at(0), at(0)],
  )
})

test('a delivery that was leased when it was inserted is due for any node after a crash', async () => {
  const { ids, events, readDue } = await openFanOut(1)
  await db.transaction((tx) => insertDeliveries(tx, events, at(0), room_of_four))
  const claimAt = async (seconds: number) => {
    const claim = { after: { account_id: '', webhook_id: '' }, limit: 1_000, endpoint_max: 10 }
    const times = { now: at(seconds), leased_until: at(seconds + 60) }
    const claimed = await claimDue(db, { ...claim, ...times, failing_max: 1, known: [] })
    return claimed.filter(({ webhook_id }) => ids.includes(webhook_id))
  }
  assert.deepEqual(await claimAt(59), [], 'its lease has not ended')
  const claimed = await claimAt(61)
  assert.deepEqual(claimed.map(({ webhook_id }) => webhook_id).toSorted(), ids.toSorted())
  await recordAttempts(
    db,
    claimed.map((one) => ({ ...failure(one, 0), status: 'succeeded', next_attempt_at: null })),
  )
  assert.deepEqual(await readDue(ids[0]), [])
})

test('an attempt is numbered after the attempts and replays before it', async () => {
  const { lease } = await insertDelivery()
  const first = await lease(1)
  await recordAttempts(db, [failure(first, 2)])
  await owner_db.run('update deliveries set replays = 1 where event_id = $1', [first.event_id])
  const second = await lease(3)
  await recordAttempts(db, [{ ...failure(second, 0), status: 'succeeded', next_attempt_at: null }])
  const rows = await db.rows<{ attempt: number }>(
    `select attempt from delivery_attempts
      where account_id = $1 and event_id = $2 order by attempt`,
    [first.account_id, first.event_id],
  )
  assert.deepEqual(
    rows.map(({ attempt }) => attempt),
    [1, 3],
  )
})
