import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparison } from './comparison.ts'

const row = (key: string, spent_usd: number) => ({
  ...{ key, label: key, purchases: 1, spent_usd },
  ...{ refunded_usd: 0, net_usd: spent_usd },
})
const october = {
  total_usd: 500,
  data: [row('2026-10-02', 80), row('2026-10-17', 20), row('2026-10-18', 400)],
}
const against = (now: string) => ({ month: '2026-10', now_ms: Date.parse(now) })

test('a running month is compared with the same days of the month before', () => {
  const now = against('2026-11-17T10:00:00Z')
  assert.equal(comparison({ total_usd: 150 }, october, now), '50% more than Oct 1–17')
  assert.equal(comparison({ total_usd: 50 }, october, now), '50% less than Oct 1–17')
  assert.equal(comparison({ total_usd: 100 }, october, now), 'Same as Oct 1–17')
  const first = against('2026-11-01T10:00:00Z')
  assert.equal(comparison({ total_usd: 9 }, october, first), 'Nothing spent Oct 1')
})

test('a month that is over is compared with the whole month before', () => {
  const now = against('2026-12-05T10:00:00Z')
  assert.equal(comparison({ total_usd: 250 }, october, now), '50% less than October 2026')
  const nothing = { total_usd: 0, data: [] }
  assert.equal(comparison({ total_usd: 9 }, nothing, now), 'Nothing spent in October 2026')
})
