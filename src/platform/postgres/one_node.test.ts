import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { openDatabase } from './db.ts'
import { onOneNode } from './one_node.ts'

const HOUR_MS = 60 * 60_000
const clone = await cloneDatabase()
const db = openDatabase(clone.url)
const clock = systemClock()
after(async () => {
  await db.close()
  await clone.drop()
})

function startNode(task: string, work: () => Promise<void>) {
  return onOneNode({ db, clock, random: systemRandom }, { task, every_ms: HOUR_MS }, work)
}

test('an hourly task runs on one node, even if others reach it together or within the hour', async () => {
  const done: number[] = []
  const nodes = [0, 1, 2].map((at) =>
    startNode('together', async () => {
      await wait(200)
      done.push(at)
    }),
  )
  await Promise.all(nodes.map((run) => run()))
  assert.equal(done.length, 1)
  for (const run of nodes) await run()
  const [first] = done
  assert.deepEqual(done, [first, first], 'only the node that did it may do it again')
})

test('if the node that ran an hourly task is gone, another node runs it in the next hour', async () => {
  let runs = 0
  const work = async () => {
    runs += 1
  }
  await startNode('inherited', work)()
  const heir = startNode('inherited', work)
  await heir()
  assert.equal(runs, 1)
  clock.setOffset(clock.offset_ms() + HOUR_MS)
  await heir()
  assert.equal(runs, 2)
})

test('a failed run throws on its own node and is not repeated by the others', async () => {
  const broken = startNode('failing', async () => {
    throw new Error('the books are not sound')
  })
  await assert.rejects(broken(), /not sound/)
  let runs = 0
  await startNode('failing', async () => {
    runs += 1
  })()
  assert.equal(runs, 0)
})

test('a run that is left because its node stops is continued by another node', async () => {
  const stopping = new AbortController()
  const left = onOneNode(
    { db, clock, random: systemRandom },
    { task: 'left', every_ms: HOUR_MS },
    async ({ check }) => {
      check()
      stopping.abort()
      check()
    },
  )
  await assert.rejects(left(stopping.signal), { name: 'AbortError' })
  let runs = 0
  await startNode('left', async () => {
    runs += 1
  })()
  assert.equal(runs, 1)
})
