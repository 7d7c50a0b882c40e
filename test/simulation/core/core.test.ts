import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { simulateCore } from './run.ts'

/** A few seconds; `core.long.test.ts` runs a million. */
const STEPS = 7_000
const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))

test(`every decision, balance, counter and state is as the model predicts, seed ${SEED}`, async (t) => {
  const { steps, outcomes } = await simulateCore(SEED, STEPS)
  t.diagnostic(`${steps} steps, ${outcomes.size} kinds of outcomes`)
  assert(steps >= STEPS)
})
