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
const ENDINGS_EACH = 24
/** What was on its way when the subscription ended may still come in. */
const UNDER_WAY_MS = 500

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const below = seeded(seed)
const someNode = () => (below(2) === 0 ? first : second)

/** Fans events out without a pause, until it is told to stop. */
async function keepFanningOut(
  { runtime }: TestService,
  storm: { is_over: boolean },
): Promise<void> {
  const { clock } = runtime
  const task = fanOutEventsTask(runtime, [
    (tx, events) => insertDeliveries(tx, events, clock.now()),
  ])
  while (!storm.is_over) {
    await task.run()
    await wait(1)
  }
}

/** Things happen on the account without a pause; answers with how many did. */
async function keepTelling({ account_id }: Person, storm: { is_over: boolean }): Promise<number> {
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

type Ended = { receiver: Receiver; ended_at: number }

/** A subscription that ends in the middle of it all, one way or another. */
async function comeAndGo(person: Person): Promise<Ended> {
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
  assert(await eventually(isOver, { within_ms: 10_000 }), 'it has ended')
  return { receiver, ended_at: Date.now() }
}

async function comeAndGoOften(person: Person): Promise<Ended[]> {
  const ended: Ended[] = []
  for (let at = 0; at < ENDINGS_EACH / 2; at += 1) {
    ended.push(...(await Promise.all([comeAndGo(person), comeAndGo(person)])))
    const off = await db.rows<{ id: string }>(
      "select id from webhooks where account_id = $1 and status = 'disabled'",
      [person.account_id],
    )
    // Some that were turned off are kept: nothing may be left lying for them either.
    for (const { id } of off.slice(4)) {
      await send(first.url, 'DELETE', `/v1/webhooks/${id}`, { bearer: person.bearer })
    }
  }
  return ended
}

test(`subscriptions that end while events are fanned out hear no more of them and leave nothing \
lying, and the others hear everything (SEED=${seed})`, async () => {
  const storm = { is_over: false }
  const people = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => {
      const person = await openAccount(first.url)
      const steady = await startReceiver()
      await subscribe(first.url, person, { url: steady.url })
      return { person, steady }
    }),
  )
  const event_metadata = people.map(({ person }) => keepTelling(person, storm))
  const fanning = [first, second, first, second].map((node) => keepFanningOut(node, storm))
  const ended = (await Promise.all(people.map(({ person }) => comeAndGoOften(person)))).flat()
  storm.is_over = true
  const told = await Promise.all(event_metadata)
  await Promise.all(fanning)

  for (const [at, { steady }] of people.entries()) {
    const received = () => new Set(steady.received.map(({ event }) => event.sequence))
    const hasAll = async () => received().size === told[at]
    assert(await eventually(hasAll, { within_ms: 20_000 }), `${received().size} of ${told[at]}`)
  }
  const left = () =>
    db.rows<{ webhook_id: string; status: string | null }>(
      `select d.webhook_id, w.status from deliveries d
         left join webhooks w on w.account_id = d.account_id and w.id = d.webhook_id`,
    )
  await eventually(async () => (await left()).length === 0, { within_ms: 5_000 })
  assert.deepEqual(await left(), [], 'no row lies there for ever')
  assert.deepEqual(await db.rows('select 1 from outbox'), [])
  for (const { receiver, ended_at } of ended) {
    const late = receiver.received.filter(({ at }) => at > ended_at + UNDER_WAY_MS)
    assert.equal(late.length, 0, 'nothing is sent to what has ended')
  }
  assert(
    ended.some(({ receiver }) => receiver.received.length > 0),
    'the race was one',
  )
  await assertBooksSound(db)
  assert.deepEqual((await verifyAudit(db)).faults, [])
})
