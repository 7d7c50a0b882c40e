import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryRateLimiter, type RateVerdict } from '#domain/risk/rate_limit.ts'
import type { RateQuestion } from './messages.ts'
import { limiterOfParent } from './shared_limits.ts'

const policies = [{ name: 'sustained', limit: 10, window_ms: 60_000 }]

/** A parent that counts, and the sizes of the messages it got. */
function parent() {
  const shared = memoryRateLimiter(() => 0)
  const sizes: number[] = []
  const decide = async (questions: readonly RateQuestion[]): Promise<RateVerdict[]> => {
    sizes.push(questions.length)
    return Promise.all(
      questions.map(({ subject, cost }) =>
        cost === 1 ? shared.take(subject, policies) : shared.peek(subject, policies),
      ),
    )
  }
  return { decide, sizes }
}

test('two workers together allow a caller one limit', async () => {
  const { decide } = parent()
  const workers = [limiterOfParent(decide), limiterOfParent(decide)]
  const takes = Array.from({ length: 30 }, (_, at) => workers[at % 2]?.take('ada', policies))
  const allowed = (await Promise.all(takes)).filter((verdict) => verdict?.allowed)
  assert.equal(allowed.length, 10)
  const other = await workers[0]?.peek('grace', policies)
  assert.deepEqual([other?.allowed, other?.remaining], [true, 10])
})

test('the questions of one turn of the event loop are one message', async () => {
  const { decide, sizes } = parent()
  const limiter = limiterOfParent(decide)
  await Promise.all([limiter.take('a', policies), limiter.peek('b', policies)])
  await limiter.take('a', policies)
  assert.deepEqual(sizes, [2, 1])
})

test('a parent that cannot be asked fails the call and not the next one', async () => {
  const { decide } = parent()
  let isDown = true
  const limiter = limiterOfParent((questions) =>
    isDown ? Promise.reject(new Error('the process ended')) : decide(questions),
  )
  await assert.rejects(async () => limiter.take('a', policies), /the process ended/)
  isDown = false
  assert.equal((await limiter.take('a', policies)).allowed, true)
})
