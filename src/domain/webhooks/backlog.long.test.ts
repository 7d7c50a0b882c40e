import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '#test/support/calls.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { openAccount } from '#test/support/people.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'

const COUNT = Number(process.env['FLORIN_BACKLOG'] ?? 20_000)
const PER_TRANSACTION = 500
/** The most events of a healthy subscriber while the backlog drains. */
const PROBES = 30

const service = await startTestService()
const { url, runtime } = service

test(`${COUNT} deliveries wait for a receiver that was down for a day, drain in order, and delay nobody`, async (t) => {
  const [busy, other] = [await openAccount(url), await openAccount(url)]
  const [down, healthy] = [await startReceiver(), await startReceiver()]
  down.respond = respondWith(503)
  await subscribe(url, busy, { url: down.url, events: ['card.loaded'] })
  await subscribe(url, other, { url: healthy.url, events: ['card.loaded'] })
  const events = Array.from({ length: PER_TRANSACTION }, () => plainEvent('card.loaded'))
  for (let sent = 0; sent < COUNT; sent += PER_TRANSACTION) {
    await recordTestEvents(runtime, busy.account_id, events)
  }
  const waiting = async () => {
    const [row] = await runtime.db.rows<{ waiting: bigint; unsent: bigint }>(
      `select (select count(*) from deliveries) as waiting,
              (select count(*) from outbox) as unsent`,
    )
    return [Number(row?.waiting), Number(row?.unsent)]
  }
  const isFannedOut = async () => (await waiting()).join() === `${COUNT},0`
  assert(await eventually(isFannedOut, { within_ms: 120_000 }), String(await waiting()))

  down.received.length = 0
  down.respond = (response) => response.end('ok')
  await advance(url, busy.bearer, 86_400)
  const began = performance.now()
  const lags: number[] = []
  for (let at = 1; at <= PROBES && down.received.length < COUNT; at += 1) {
    const sent_at = performance.now()
    await recordTestEvents(runtime, other.account_id, [plainEvent('card.loaded')])
    await healthy.waitFor(at, 15_000)
    lags.push(performance.now() - sent_at)
  }
  assert(lags.length >= 3, `only ${lags.length} events while the backlog drained`)
  const isDrained = async () => (await waiting())[0] === 0
  assert(await eventually(isDrained, { within_ms: 300_000 }), String(await waiting()))
  const seconds = (performance.now() - began) / 1_000
  assertOldestFirst(down.received.map(({ event }) => event.sequence))
  const worst_lag_ms = Math.max(...lags)
  t.diagnostic(
    `${COUNT} drained in ${seconds.toFixed(0)} s (${(COUNT / seconds).toFixed(0)} a second), ` +
      `0 lost, others' worst lag ${worst_lag_ms.toFixed(0)} ms`,
  )
})

/** Every event arrived, and none before one that is much older: attempts of a batch overlap. */
function assertOldestFirst(sequences: readonly number[]): void {
  assert.equal(new Set(sequences).size, COUNT, 'every event arrived')
  const middle = Math.floor(sequences.length / 2)
  const mean = (part: readonly number[]) => part.reduce((sum, one) => sum + one, 0) / part.length
  assert(mean(sequences.slice(0, middle)) < mean(sequences.slice(middle)), 'oldest first')
}
