import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateCore } from './run.ts'

const STEPS = Number(process.env['FLORIN_CORE_STEPS'] ?? 1_000_000)
const SEED = Number(process.env['FLORIN_SEED'] ?? Date.now() % 2 ** 31)

test(`${STEPS} decisions, balances and states are as the model predicts, seed ${SEED}`, async (t) => {
  const { steps, outcomes } = await simulateCore(SEED, STEPS)
  for (const [name, count] of [...outcomes].toSorted()) t.diagnostic(`${name} × ${count}`)
  t.diagnostic(`${steps} steps, seed ${SEED}`)
  assert(steps >= STEPS)
})
