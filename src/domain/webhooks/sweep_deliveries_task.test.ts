import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behind } from '#test/support/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { holdRows } from '#test/support/held_rows.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe, webhookOf } from '#test/support/webhooks.ts'
import { markDelivered } from './attempt_store.ts'
import { sweepDeliveriesTask } from './sweep_deliveries_task.ts'

const { url, runtime, owner_db } = await startTestService()
const { db, clock } = runtime

/** The task of a node that is six days ahead, so the service's own leaves the webhooks alone. */
const task = sweepDeliveriesTask({ ...runtime, clock: behind(clock, -6 * 86_400_000) })

/** A webhook whose deliveries fail from now on. */
async function openFailing() {
  const person = await openAccount(url)
  const { id } = await subscribe(url, person, { url: 'https://a.example/' })
  const key = [person.account_id, id]
  await db.run('update webhooks set failing_since = $3 where account_id = $1 and id = $2', [
    ...key,
    clock.now(),
  ])
  return { ...person, id, read: () => webhookOf(url, person.bearer, id) }
}

async function isWaitingForLock(): Promise<boolean> {
  const waiting = await owner_db.rows(
    `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return waiting.length > 0
}

test('a webhook that fails for five days is disabled', async () => {
  const failing = await openFailing()
  await task.run()
  const { status, disabled_reason } = await failing.read()
  assert.deepEqual([status, disabled_reason], ['disabled', 'failing_for_5_days'])
})

test('a webhook that succeeds while the task is about to disable it stays enabled', async () => {
  const { account_id, id, read } = await openFailing()
  const success = await holdRows(db, (tx) => markDelivered(tx, account_id, id, clock.now()))
  const sweeping = task.run()
  assert(await eventually(isWaitingForLock, { within_ms: 5_000 }), 'the task waits')
  await success.release()
  await sweeping
  const { status, failing_since } = await read()
  assert.deepEqual([status, failing_since], ['enabled', null])
})
