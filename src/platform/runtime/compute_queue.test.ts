import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeQueue } from './compute_queue.ts'

/** A clock that advances by this much whenever it is read. */
function steppingClock(step_ms: number) {
  let now_ms = 0
  return {
    monotonic: () => {
      now_ms += step_ms
      return now_ms
    },
  }
}

/** Computes in 100 steps and returns how often the event loop turned meanwhile. */
function countTurns(compute: ReturnType<typeof computeQueue>): Promise<number> {
  let turns = 0
  let timer = setImmediate(function count() {
    turns += 1
    timer = setImmediate(count)
  })
  function* steps(): Generator<void, number> {
    for (let step = 0; step < 100; step += 1) yield
    return turns
  }
  return compute(steps()).finally(() => clearImmediate(timer))
}

test('a computation lets the event loop turn every few milliseconds, not after every step', async () => {
  const turns = await countTurns(computeQueue(steppingClock(1)))
  assert.ok(turns >= 10 && turns <= 50, `${turns} turns in 100 ms`)
})

test('a short computation does not wait for the event loop', async () => {
  assert.equal(await countTurns(computeQueue(steppingClock(0.01))), 0)
})

test('computations run one after another, and one that throws does not stop the next', async () => {
  const compute = computeQueue(steppingClock(10))
  const trail: string[] = []
  function* steps(name: string): Generator<void, string> {
    for (let step = 0; step < 3; step += 1) {
      trail.push(name)
      yield
    }
    if (name === 'broken') throw new Error('broken')
    return name
  }
  const [first, broken, last] = await Promise.allSettled(
    ['first', 'broken', 'last'].map((name) => compute(steps(name))),
  )
  assert.deepEqual(first, { status: 'fulfilled', value: 'first' })
  assert.equal(broken?.status, 'rejected')
  assert.deepEqual(last, { status: 'fulfilled', value: 'last' })
  const in_turn = ['first', 'broken', 'last'].flatMap((name) => [name, name, name])
  assert.deepEqual(trail, in_turn)
})
