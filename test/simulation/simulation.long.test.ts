import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from './simulation.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const SECONDS = Number(process.env['FLORIN_SIMULATION_SECONDS'] ?? 150)

test(`${SECONDS} s of every operation, message and fault have no violation, seed ${seed}`, async (t) => {
  const { monitor, trace_path } = await simulate({ seed, seconds: SECONDS, keeps_trace: true })
  t.diagnostic(`${monitor.operations} operations, ${monitor.faults} faults, ${trace_path}`)
  assert.deepEqual(monitor.violations, [])
  assert(monitor.faults >= SECONDS / 15)
})
