import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine } from '#domain/authorizations/engine.ts'
import type { CardRequest, EngineResponse } from '#domain/authorizations/request.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { routeMessages } from './route_messages.ts'
import type { StartedCell } from './start_cell.ts'

/** An engine that counts its messages; while it is down it rejects them. */
function countingEngine() {
  const state = { count: 0, isDown: false, isUnknown: false }
  const engine: Engine = {
    submit: async (_request, submitToOtherCell) => {
      state.count += 1
      if (state.isUnknown && submitToOtherCell !== undefined) return submitToOtherCell()
      if (state.isDown) throw new DatabaseUnavailable('down')
      return {} as EngineResponse
    },
    load: () => 0,
    drain: async () => undefined,
  }
  return { state, engine }
}

/** The hash of a card number that names this cell. */
const hashIn = (cell: number) => Buffer.from([cell, 0]).toString('base64url').padEnd(43, 'A')

const requestIn = (cell: number) => ({ pan_hash: hashIn(cell) }) as CardRequest

function setUp({ serves_home = true } = {}) {
  const [home, first] = [countingEngine(), countingEngine()]
  let now_ms = 0
  const started = new Map([[1, { issuing: { engine: first.engine } } as StartedCell]])
  const routed = routeMessages(home.engine, {
    ...{ started, numbers: new Set([1, 2]), serves_home },
    clock: { monotonic: () => now_ms },
  })
  const pass = (ms: number) => {
    now_ms += ms
  }
  return { home: home.state, first: first.state, routed, pass }
}

test('a message goes to the cell that its card number names', async () => {
  const { home, first, routed } = setUp()
  await routed.submit(requestIn(0))
  await routed.submit(requestIn(1))
  assert.deepEqual([home.count, first.count], [1, 1])
})

test('a message of a cell that has not started is refused, not decided by cell 0', async () => {
  const { home, routed } = setUp()
  await assert.rejects(routed.submit(requestIn(2)), DatabaseUnavailable)
  assert.equal(home.count, 0)
})

test('a node without cell 0 refuses its messages, and those that its own cells do not know', async () => {
  const { home, first, routed } = setUp({ serves_home: false })
  for (const cell of [0, 5]) await assert.rejects(routed.submit(requestIn(cell)), /cell 0/)
  first.isUnknown = true
  await assert.rejects(routed.submit(requestIn(1)), /cell 0/)
  assert.deepEqual([home.count, first.count], [0, 1])
})

test('a number of no cell is one of cell 0', async () => {
  const { home, routed } = setUp()
  await routed.submit(requestIn(5))
  assert.equal(home.count, 1)
})

test('a cell that is down is only probed, and serves again after a probe succeeds', async () => {
  const { home, first, routed, pass } = setUp()
  first.isDown = true
  const ask = () => routed.submit(requestIn(1)).catch((cause: unknown) => cause)
  for (let at = 0; at < 500; at += 1) assert.ok((await ask()) instanceof DatabaseUnavailable)
  const met = first.count
  assert.ok(met < 40, `${met} messages of 500 waited for the cell`)
  await routed.submit(requestIn(0))
  assert.equal(home.count, 1)
  first.isDown = false
  pass(100)
  await routed.submit(requestIn(1))
  await routed.submit(requestIn(1))
  assert.equal(first.count, met + 2)
})
