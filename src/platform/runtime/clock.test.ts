import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advanceClock, followClockOffset } from '#platform/postgres/clock_offset.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { systemClock } from './clock.ts'

let clone: TestDatabase
let db: Database
before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url, { pool_size: 3 })
})
after(async () => {
  await db.close()
  await clone.drop()
})

const HOUR_MS = 3_600_000
const ahead = (clock: ReturnType<typeof systemClock>) =>
  Math.round((clock.now().getTime() - clock.wall().getTime()) / HOUR_MS)

test('advancing the clock changes now, but neither wall nor monotonic', () => {
  const clock = systemClock()
  const [wall, measured] = [clock.wall().getTime(), clock.monotonic()]
  clock.setOffset(7 * HOUR_MS)
  assert.equal(ahead(clock), 7)
  assert.ok(clock.wall().getTime() - wall < 1_000)
  assert.ok(clock.monotonic() - measured < 1_000)
  assert.equal(clock.offset_ms(), 7 * HOUR_MS)
})

test('sleep ends early on abort, without an error', async () => {
  const stopping = new AbortController()
  const began = performance.now()
  const sleep = systemClock().sleep(60_000, stopping.signal)
  stopping.abort()
  await sleep
  assert.ok(performance.now() - began < 1_000)
})

test('a timer ticks until it is cancelled', async () => {
  const clock = systemClock()
  let ticks = 0
  const cancel = clock.every(5, () => {
    ticks += 1
  })
  assert.ok(await eventually(async () => ticks >= 2, { within_ms: 20_000 }))
  cancel()
  const at_cancel = ticks
  await clock.sleep(50)
  assert.equal(ticks, at_cancel)
})

test('an advance reaches every node, adds up and survives a restart', async () => {
  const [one, two] = [systemClock(), systemClock()]
  const stops = [await followClockOffset(db, one), await followClockOffset(db, two)]
  await advanceClock(db, one, 3_600)
  assert.equal(ahead(one), 1, 'the node that was called knows immediately')
  assert.ok(await eventually(async () => ahead(two) === 1, { within_ms: 20_000 }))
  await Promise.all([advanceClock(db, one, 3_600), advanceClock(db, two, 3_600)])
  assert.ok(
    await eventually(async () => ahead(one) === 3 && ahead(two) === 3, { within_ms: 20_000 }),
  )
  for (const stop of stops) await stop()
  const restarted = systemClock()
  const stop = await followClockOffset(db, restarted)
  assert.equal(ahead(restarted), 3)
  await stop()
})
