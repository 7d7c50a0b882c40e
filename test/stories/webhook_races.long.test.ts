// Runs alone, because it measures how long requests in flight still arrive.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fanOutEventsTask } from '#domain/events/fan_out_events_task.ts'
import { insertDeliveries } from '#domain/webhooks/delivery_store.ts'
import { verifyAudit } from '#main/audit.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { type Receiver, respondWith, startReceiver } from '#test/support/receiver.ts'
import type { TestService } from '#test/support/start.ts'
import { seeded } from '#test/support/storm.ts'
import { subscribe } from '#test/support/webhooks.ts'

const { first, second } = await startTwoNodes()
const { db } = first.runtime

const ACCOUNTS = 3
const WEBHOOKS_EACH = 24
/** Requests in flight when a webhook ends may still arrive this long. */
const IN_FLIGHT_MS = 500

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const below = seeded(seed)
const someNode = () => (below(2) === 0 ? first : second)

/** Fans events out continuously until the storm is over. */
async function keepFanningOut(
  { runtime }: TestService,
  storm: { is_over: boolean },
): Promise<void> {
  const { clock } = runtime
  const task = fanOutEventsTask(runtime, [
    async (tx, events) => void (await insertDeliveries(tx, events, clock.now())),
  ])
  while (!storm.is_over) {
    await task.run()
    await wait(1)
  }
}

/** Records events continuously and returns how many. */
async function keepRecording({ account_id }: Person, storm: { is_over: boolean }): Promise<number> {
  let count = 0
  while (!storm.is_over) {
    const batch = 1 + below(5)
    const events = Array.from({ length: batch }, () => plainEvent('card.loaded'))
    await recordTestEvents(someNode().runtime, account_id, events)
    count += batch
    await wait(below(4))
  }
  return count
}

type EndedWebhook = { receiver: Receiver; ended_at: number }

/** Creates a webhook that is deleted or disabled, or whose endpoint responds with 410. */
async function endWebhook(person: Person): Promise<EndedWebhook> {
  const { bearer } = person
  const receiver = await startReceiver()
  const { id } = await subscribe(someNode().url, person, { url: receiver.url })
  await wait(below(40))
  const path = `/v1/webhooks/${id}`
  const way = below(3)
  if (way === 0) receiver.respond = respondWith(410)
  if (way === 1) {
    const body = { status: 'disabled' }
    const reply = await send(someNode().url, 'PATCH', path, { bearer, body })
    assert.equal(reply.status, 200, reply.text)
  }
  if (way !== 1) await wait(below(40))
  if (way === 2 || below(2) === 0) {
    const reply = await send(someNode().url, 'DELETE', path, { bearer })
    assert.equal(reply.status, 204, reply.text)
  }
  const isOver = async () => {
    const live = await db.rows("select 1 from webhooks where id = $1 and status = 'enabled'", [id])
    return live.length === 0
  }
  assert(await eventually(isOver, { within_ms: 10_000 }), 'the webhook has ended')
  return { receiver, ended_at: Date.now() }
}

async function endManyWebhooks(person: Person): Promise<EndedWebhook[]> {
  const ended: EndedWebhook[] = []
  for (let at = 0; at < WEBHOOKS_EACH / 2; at += 1) {
    ended.push(...(await Promise.all([endWebhook(person), endWebhook(person)])))
    const off = await db.rows<{ id: string }>(
      "select id from webhooks where account_id = $1 and status = 'disabled'",
      [person.account_id],
    )
    // Some disabled webhooks are kept, because they must have no deliveries either.
    for (const { id } of off.slice(4)) {
      await send(first.url, 'DELETE', `/v1/webhooks/${id}`, { bearer: person.bearer })
    }
  }
  return ended
}

test(`webhooks that end during the fan-out get no more events and leave no deliveries, and others \
get every event (SEED=${seed})`, async () => {
  const storm = { is_over: false }
  const people = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => {
      const person = await openAccount(first.url)
      const steady = await startReceiver()
      await subscribe(first.url, person, { url: steady.url })
      return { person, steady }
    }),
  )
  const recording = people.map(({ person }) => keepRecording(person, storm))
  const fanning = [first, second, first, second].map((node) => keepFanningOut(node, storm))
  const ended = (await Promise.all(people.map(({ person }) => endManyWebhooks(person)))).flat()
  storm.is_over = true
  const counts = await Promise.all(recording)
  await Promise.all(fanning)

  for (const [at, { steady }] of people.entries()) {
    const received = () => new Set(steady.received.map(({ event }) => event.sequence))
    const hasAll = async () => received().size === counts[at]
    assert(await eventually(hasAll, { within_ms: 20_000 }), `${received().size} of ${counts[at]}`)
  }
  const left = () =>
    db.rows<{ webhook_id: string; status: string | null }>(
      `select d.webhook_id, w.status from deliveries d
         left join webhooks w on w.account_id = d.account_id and w.id = d.webhook_id`,
    )
  const isEmpty = async () => (await left()).length === 0
  assert(await eventually(isEmpty, { within_ms: 10_000 }), JSON.stringify(await left()))
  assert.deepEqual(await db.rows('select 1 from outbox'), [])
  for (const { receiver, ended_at } of ended) {
    const late = receiver.received.filter(({ at }) => at > ended_at + IN_FLIGHT_MS)
    const late_ms = late.map(({ at }) => at - ended_at)
    assert.deepEqual(late_ms, [], 'nothing is sent to a webhook that has ended')
  }
  assert(
    ended.some(({ receiver }) => receiver.received.length > 0),
    'some webhooks received events before they ended',
  )
  await assertBooksSound(db)
  assert.deepEqual((await verifyAudit(db)).faults, [])
})
