import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decideRate, memoryRateLimiter, type RatePolicy } from './rate_limit.ts'

const policiesOf = (burst: number, sustained: number): RatePolicy[] => [
  { name: 'burst', limit: burst, window_ms: 1_000 },
  { name: 'sustained', limit: sustained, window_ms: 60_000 },
]

const anyPolicies = fc
  .record({ burst: fc.integer({ min: 1, max: 80 }), sustained: fc.integer({ min: 1, max: 400 }) })
  .map(({ burst, sustained }) => policiesOf(burst, sustained))

/** Pauses between calls: mostly none, some short, a few long. */
const anyPauses = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.double({ min: 0, max: 40, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 0, max: 70_000, noNaN: true }) },
  ),
  { minLength: 1, maxLength: 400 },
)

/** Timestamps of the allowed calls. */
function allowedTimestamps(policies: readonly RatePolicy[], pauses: readonly number[]): number[] {
  let now = 10_000
  const limiter = memoryRateLimiter(() => now)
  const timestamps: number[] = []
  for (const pause of pauses) {
    now += pause
    const verdict = limiter.take('one', policies)
    assert(!(verdict instanceof Promise))
    if (verdict.allowed) timestamps.push(now)
  }
  return timestamps
}

test('in any interval a bucket allows at most its limit and its refill', () => {
  fc.assert(
    fc.property(anyPolicies, anyPauses, (policies, pauses) => {
      const timestamps = allowedTimestamps(policies, pauses)
      for (const { limit, window_ms } of policies) {
        for (let first = 0; first < timestamps.length; first += 7) {
          for (let last = first; last < timestamps.length; last += 1) {
            const elapsed = (timestamps[last] ?? 0) - (timestamps[first] ?? 0)
            const allowed_max = limit + (elapsed * limit) / window_ms + 0.01
            assert(last - first + 1 <= allowed_max)
          }
        }
      }
    }),
  )
})

test('a call is allowed after retry_after_ms, and not earlier', () => {
  fc.assert(
    fc.property(anyPolicies, anyPauses, (policies, pauses) => {
      let now_ms = 10_000
      let full_at: number[] = []
      for (const pause of pauses) {
        now_ms += pause
        const { verdict, full_at: next } = decideRate(full_at, policies, { now_ms, cost: 1 })
        full_at = next
        if (verdict.allowed) {
          assert.equal(verdict.retry_after_ms, 0)
          continue
        }
        const wait = verdict.retry_after_ms
        const late = decideRate(full_at, policies, { now_ms: now_ms + wait + 1e-3, cost: 1 })
        assert.equal(late.verdict.allowed, true)
        const early = decideRate(full_at, policies, { now_ms: now_ms + wait - 2e-3, cost: 1 })
        assert.equal(early.verdict.allowed, wait <= 2e-3)
      }
    }),
  )
})

test('exactly `remaining` further calls are allowed immediately', () => {
  fc.assert(
    fc.property(anyPolicies, anyPauses, (policies, pauses) => {
      const sustained = policies.slice(1)
      let now_ms = 10_000
      let full_at: number[] = []
      let remaining = sustained[0]?.limit ?? 0
      for (const pause of pauses) {
        now_ms += pause
        const decided = decideRate(full_at, sustained, { now_ms, cost: 1 })
        full_at = decided.full_at
        remaining = decided.verdict.remaining
        assert(remaining >= 0 && remaining <= (sustained[0]?.limit ?? 0))
      }
      for (let left = remaining; left >= 0; left -= 1) {
        const decided = decideRate(full_at, sustained, { now_ms, cost: 1 })
        full_at = decided.full_at
        assert.equal(decided.verdict.allowed, left > 0)
        assert.equal(decided.verdict.remaining, Math.max(0, left - 1))
      }
    }),
  )
})

test('peeking takes nothing, and a refusal by one bucket takes nothing from the other', () => {
  fc.assert(
    fc.property(anyPolicies, anyPauses, (policies, pauses) => {
      let now_ms = 10_000
      let full_at: number[] = []
      for (const pause of pauses) {
        now_ms += pause
        const peeked = decideRate(full_at, policies, { now_ms, cost: 0 })
        const again = decideRate(full_at, policies, { now_ms, cost: 0 })
        assert.deepEqual(again.verdict, peeked.verdict)
        const before = full_at
        const { verdict, full_at: next } = decideRate(full_at, policies, { now_ms, cost: 1 })
        if (!verdict.allowed)
          assert.deepEqual(
            next,
            policies.map((_, at) => before[at] ?? 0),
          )
        full_at = next
      }
    }),
  )
})
