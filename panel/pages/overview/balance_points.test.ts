import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { stepsOf } from './balance_points.ts'

const at = (second: number) => new Date(second * 1_000).toISOString()

test('the steps begin with the balance before the range and end with the current one', () => {
  const points = [
    { created_at: at(300), balance_usd: 70, amount_usd: -30 },
    { created_at: at(200), balance_usd: 100, amount_usd: 60 },
  ]
  const steps = stepsOf({ points, before_usd: 40, from_s: 100, now_s: 400 })
  assert.deepEqual(steps, { times: [100, 200, 300, 400], values: [40, 100, 70, 70], is_cut: false })
})

test('without a change in the range, the balance is a level line', () => {
  const steps = stepsOf({ points: [], before_usd: 12.5, from_s: 100, now_s: 400 })
  assert.deepEqual(steps.values, [12.5, 12.5])
})
