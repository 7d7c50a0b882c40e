import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperatorOutput } from '#contract/operator/operations.ts'
import { combined } from './combine.ts'

type KillSwitches = OperatorOutput<'operator_list_kill_switches'>
type KillSwitch = KillSwitches['data'][number]

const off: KillSwitch = { rail: 'issuing', on: false, reason: null, changed_at: null }
const on: KillSwitch = {
  ...off,
  ...{ on: true, reason: 'Fraud', changed_at: '2026-11-18T17:02:14.629Z' },
}

function listOf(...of_cells: KillSwitch[]): KillSwitch[] {
  const bodies = of_cells.map((one) => ({ data: [one] })) as never[]
  const combine = combined['operator_list_kill_switches'] ?? assert.fail()
  return (combine(bodies) as KillSwitches).data
}

test('a kill switch that some cells missed says in how many it is on', () => {
  assert.deepEqual(listOf(on, off), [{ ...on, reason: 'Fraud (only in 1 of 2 cells)' }])
  assert.deepEqual(listOf(off, on, on), [{ ...on, reason: 'Fraud (only in 2 of 3 cells)' }])
  const unexplained = { ...on, reason: null }
  assert.deepEqual(listOf(off, unexplained), [{ ...on, reason: 'only in 1 of 2 cells' }])
})

test('a kill switch that all cells agree on is shown as it is', () => {
  assert.deepEqual(listOf(on, on), [on])
  assert.deepEqual(listOf(off, { ...off, reason: 'Over' }), [off])
})
