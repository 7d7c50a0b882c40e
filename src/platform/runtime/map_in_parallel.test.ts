import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { mapInParallel } from './map_in_parallel.ts'

test('results keep the order of their items, and no more than the count run at a time', async () => {
  let running = 0
  let most = 0
  const results = await mapInParallel([5, 1, 3, 2, 4], 2, async (ms) => {
    running += 1
    most = Math.max(most, running)
    await setTimeout(ms)
    running -= 1
    return ms * 10
  })
  assert.deepEqual([results, most], [[50, 10, 30, 20, 40], 2])
})

test('a failure ends the work after the items that are running', async () => {
  const begun: number[] = []
  const failing = mapInParallel([1, 2, 3], 2, async (item) => {
    begun.push(item)
    throw new Error('failed')
  })
  await assert.rejects(failing, /failed/)
  assert.deepEqual(begun, [1, 2])
})
