import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restartDelayMs } from './worker_pool.ts'

test('replaces a worker immediately once, then later each time, up to ten seconds', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 50].map(restartDelayMs)
  assert.deepEqual(delays, [0, 0, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
})
