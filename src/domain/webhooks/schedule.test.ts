import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAttemptAt, retryAfterMs } from './schedule.ts'

const now = new Date('2031-05-06T07:08:15.000Z')
const middle = { below: (limit: number) => Math.floor(limit / 2) }
const lowest = { below: () => 0 }
const highest = { below: (limit: number) => limit - 1 }

const delays = (random: typeof middle) =>
  Array.from({ length: 10 }, (_, at) => {
    const next = nextAttemptAt({ attempts: at + 1, retry_after_ms: null, now, random })
    return next === null ? null : (next.getTime() - now.getTime()) / 1_000
  })

test('there are ten attempts over a nominal 75 h 35 min', () => {
  const nominal = delays(middle)
  const hours = (count: number) => count * 3_600
  assert.deepEqual(nominal, [5, 300, 1_800, ...[2, 5, 10, 14, 20, 24].map(hours), null])
  const total = nominal.reduce<number>((sum, delay) => sum + (delay ?? 0), 0)
  assert.equal(total, 75 * 3_600 + 35 * 60 + 5)
})

test('jitter is up to 20 % either way', () => {
  assert.deepEqual(delays(lowest).slice(0, 3), [4, 240, 1_440])
  assert.deepEqual(delays(highest).slice(0, 3), [6, 360, 2_160])
})

test('Retry-After lengthens the delay up to a day and never shortens it', () => {
  const delayFor = (retry_after_ms: number) => {
    const next = nextAttemptAt({ attempts: 2, retry_after_ms, now, random: middle })
    return ((next?.getTime() ?? 0) - now.getTime()) / 1_000
  }
  assert.equal(delayFor(900_000), 900)
  assert.equal(delayFor(1_000), 300)
  assert.equal(delayFor(10 ** 12), 86_400)
  const last = nextAttemptAt({ attempts: 10, retry_after_ms: 5_000, now, random: middle })
  assert.equal(last, null)
})

test('Retry-After is seconds or an HTTP date; invalid and past values are ignored', () => {
  assert.equal(retryAfterMs('120', now), 120_000)
  assert.equal(retryAfterMs(' 7 ', now), 7_000)
  assert.equal(retryAfterMs('Tue, 06 May 2031 07:09:15 GMT', now), 60_000)
  const nothing = [undefined, '', '0', '-5', '1.5', 'soon', 'Mon, 05 May 2031 07:09:15 GMT']
  for (const header of nothing) assert.equal(retryAfterMs(header, now), null, header)
})
