import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'
import {
  type CompletedAttempt,
  claimDue,
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
