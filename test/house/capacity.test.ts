import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costs, measured_points } from '#bench/capacity_parts/costs.ts'
import { planFor, predictPerSecond } from '#bench/capacity_parts/plan.ts'

for (const { name, per_second, parts } of measured_points) {
  test(`the costs predict the measured throughput within a quarter: ${name}`, () => {
    const predicted = predictPerSecond(costs, parts, 2)
    const ratio = predicted / per_second
    assert(ratio > 0.75 && ratio < 1.25, `${predicted} predicted, ${per_second} measured`)
  })
}

test('a small programme needs one cell and two nodes', () => {
  const { cells, nodes, servers } = planFor({ accounts: 10_000, peak_per_second: 20 }, costs)
  assert.deepEqual({ cells, nodes, servers }, { cells: 1, nodes: 2, servers: 3 })
})

test('storage, servers and cost grow in proportion to the rate', () => {
  const one = planFor({ accounts: 0, peak_per_second: 5_000 }, costs)
  const two = planFor({ accounts: 0, peak_per_second: 10_000 }, costs)
  for (const name of ['online_gb', 'archived_gb_per_year', 'servers', 'usd_per_year'] as const) {
    const ratio = two[name] / one[name]
    assert(ratio > 1.9 && ratio < 2.1, `${name}: ${one[name]} and ${two[name]}`)
  }
})

test('a large programme has several small cells on each server, 128 at most', () => {
  const { cells, servers } = planFor({ accounts: 100_000, peak_per_second: 2_000 }, costs)
  assert.equal(cells, Math.min(128, (servers / 3) * 8))
  const huge = planFor({ accounts: 0, peak_per_second: 50_000 }, costs)
  assert.equal(huge.cells, 128)
})
