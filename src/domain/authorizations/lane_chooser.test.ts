import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WriteLane } from '#platform/postgres/write_lane.ts'
import { LaneChooser } from './lane_chooser.ts'

type HeldLane = WriteLane<string, string> & {
  received: string[]
  /** Settles everything that the lane has received. */
  settle(): void
  fail(): void
}

/** A lane that settles its commands only when the test asks for it. */
function heldLane(): HeldLane {
  const received: string[] = []
  const waiting: { command: string; resolve(result: string): void; reject(cause: Error): void }[] =
    []
  const takeWaiting = () => waiting.splice(0)
  return {
    received,
    submit: (command) =>
      new Promise((resolve, reject) => {
        received.push(command)
        waiting.push({ command, resolve, reject })
      }),
    load: () => waiting.length,
    drain: async () => undefined,
    settle: () => {
      for (const { command, resolve } of takeWaiting()) resolve(command)
    },
    fail: () => {
      for (const { reject } of takeWaiting()) reject(new Error('down'))
    },
  }
}

function twoLanes() {
  const lanes = [heldLane(), heldLane()] as const
  return { first: lanes[0], second: lanes[1], chooser: new LaneChooser<string, string>(lanes) }
}

/** Ids whose last character belongs to the second of two lanes. */
const idsOfSecond = (count: number) => Array.from({ length: count }, (_, at) => `acct_${at}_1`)

test('a few messages of different accounts share the first lane', async () => {
  const { first, second, chooser } = twoLanes()
  const sent = ['acct_a', 'acct_b', 'acct_c', 'acct_d'].map((id) => chooser.submit(id, id))
  assert.deepEqual([first.received.length, second.received.length], [4, 0])
  first.settle()
  assert.deepEqual(await Promise.all(sent), ['acct_a', 'acct_b', 'acct_c', 'acct_d'])
})

test('many messages are divided by account', () => {
  const { first, second, chooser } = twoLanes()
  for (const id of idsOfSecond(100)) void chooser.submit(id, id)
  assert.deepEqual([first.received.length, second.received.length], [32, 68])
  assert.equal(chooser.load(), 100)
})

test('an account with unsettled messages keeps its lane while others move', () => {
  const { first, second, chooser } = twoLanes()
  const ids = idsOfSecond(40)
  for (const id of ids) void chooser.submit(id, `${id} first`)
  for (const id of ids) void chooser.submit(id, `${id} second`)
  const inOrder = (some: readonly string[]) => [
    ...some.map((id) => `${id} first`),
    ...some.map((id) => `${id} second`),
  ]
  assert.deepEqual(first.received, inOrder(ids.slice(0, 32)))
  assert.deepEqual(second.received, inOrder(ids.slice(32)))
})

test('an account is free to change its lane when its last message has settled', async () => {
  const { first, second, chooser } = twoLanes()
  const [own = '', ...others] = idsOfSecond(40)
  const settled = chooser.submit(own, 'before')
  first.settle()
  await settled
  for (const id of others) void chooser.submit(id, id)
  void chooser.submit(own, 'after')
  assert.deepEqual([first.received[0], second.received.at(-1)], ['before', 'after'])
})

test('a message that fails leaves nothing behind', async () => {
  const { first, second, chooser } = twoLanes()
  const [own = '', ...others] = idsOfSecond(40)
  const failed = chooser.submit(own, 'before')
  first.fail()
  await assert.rejects(failed, /down/)
  for (const id of others) void chooser.submit(id, id)
  void chooser.submit(own, 'after')
  assert.equal(second.received.at(-1), 'after')
})
