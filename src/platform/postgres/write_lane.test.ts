import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUSY, type Flush, Overdue, type Verdict, writeLane } from './write_lane.ts'

type Options = {
  batch_max?: number
  judge?: (cause: unknown) => Verdict
  now?: () => number
  findBusy?: (commands: readonly number[]) => Promise<readonly number[]>
}

function laneOf(
  flush: Flush<number, string>,
  {
    batch_max = 512,
    judge = () => 'split',
    now = () => 0,
    findBusy = async () => [],
  }: Options = {},
) {
  return writeLane(flush, {
    clock: { monotonic: now, sleep: async () => undefined },
    batch_max,
    waitMaxMs: () => 1_000,
    judge,
    findBusy,
  })
}

test('commands that arrive during a batch form the next batch', async () => {
  const batches: (readonly number[])[] = []
  let release = () => {}
  const lane = laneOf(async (batch) => {
    batches.push(batch)
    if (batches.length === 1) {
      await new Promise<void>((done) => {
        release = done
      })
    }
    return batch.map(String)
  })
  const first = lane.submit(1)
  await new Promise((done) => setImmediate(done))
  const others = [2, 3, 4].map(lane.submit)
  release()
  assert.equal(await first, '1')
  assert.deepEqual(await Promise.all(others), ['2', '3', '4'])
  assert.deepEqual(batches, [[1], [2, 3, 4]])
  await lane.drain()
  assert.equal(lane.load(), 0)
})

test('a batch has at most batch_max commands', async () => {
  const sizes: number[] = []
  const lane = laneOf(
    async (batch) => {
      sizes.push(batch.length)
      return batch.map(String)
    },
    { batch_max: 3 },
  )
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map(lane.submit))
  assert.deepEqual(sizes, [3, 3, 1])
})

test('a failing command is isolated, and only it is rejected', async () => {
  const lane = laneOf(async (batch) => {
    if (batch.includes(42)) throw new Error('poison')
    return batch.map(String)
  })
  const all = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => lane.submit(at)))
  const refused = all.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))
  assert.deepEqual(refused, [42])
})

test('a batch with a retryable fault is tried three times as a whole, without splitting', async () => {
  let flushes = 0
  const lane = laneOf(
    async () => {
      flushes += 1
      throw new Error('no database')
    },
    { judge: () => 'retry' },
  )
  const all = await Promise.allSettled([1, 2, 3, 4].map(lane.submit))
  assert(all.every(({ status }) => status === 'rejected'))
  assert.equal(flushes, 3)
})

test('a command that its batch left out as overdue is rejected, and the others are not', async () => {
  const lane = laneOf(async (batch) =>
    batch.map((command) => (command === 2 ? new Overdue('late') : String(command))),
  )
  const [first, second] = await Promise.allSettled([1, 2].map(lane.submit))
  assert.equal(first?.status, 'fulfilled')
  assert(second?.status === 'rejected' && second.reason instanceof Overdue)
})

test('a command that waited too long is rejected without running', async () => {
  let now = 0
  let release = () => {}
  const seen: number[] = []
  const lane = laneOf(
    async (batch) => {
      seen.push(...batch)
      if (seen.length === 1) {
        await new Promise<void>((done) => {
          release = done
        })
      }
      return batch.map(String)
    },
    { now: () => now },
  )
  const first = lane.submit(1)
  await new Promise((done) => setImmediate(done))
  const late = lane.submit(2)
  now = 1_001
  release()
  await first
  await assert.rejects(late, Overdue)
  assert.deepEqual(seen, [1])
})

test('only the commands that need a busy lock wait for it and fail with it', async () => {
  const batches: [readonly number[], number][] = []
  const lane = laneOf(
    async (batch, { attempt }) => {
      batches.push([batch, attempt])
      if (batch.includes(7)) throw new Error('lock timeout')
      return batch.map(String)
    },
    { judge: () => 'separate', findBusy: async () => [7, 8] },
  )
  const all = await Promise.allSettled([6, 7, 8, 9].map(lane.submit))
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(batches, [
    [[6, 7, 8, 9], 1],
    [[6, 9], 2],
    [[7, 8], 2],
  ])
})

test('a busy command joins the next batch before later ones, and the others do not wait', async () => {
  const batches: (readonly number[])[] = []
  const lane = laneOf(async (batch) => {
    batches.push(batch)
    if (batches.length === 1) later = lane.submit(4)
    return batch.map((command) => (command === 2 && batches.length < 3 ? BUSY : String(command)))
  })
  let later: Promise<string> | undefined
  const all = [1, 2, 3].map(lane.submit)
  assert.deepEqual(await Promise.all(all), ['1', '2', '3'])
  assert.equal(await later, '4')
  assert.deepEqual(batches, [[1, 2, 3], [2, 4], [2]])
  await lane.drain()
  assert.equal(lane.load(), 0)
})

test('a command that was busy for a tenth of a second is waited for', async () => {
  let now = 0
  const skips: boolean[] = []
  const lane = laneOf(
    async (batch, { skips_busy }) => {
      skips.push(skips_busy)
      now += 40
      return batch.map((command) => (skips_busy ? BUSY : String(command)))
    },
    { now: () => now },
  )
  assert.equal(await lane.submit(1), '1')
  assert.deepEqual(skips, [true, true, true, false])
})
