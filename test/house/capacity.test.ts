import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costs, measured } from '#bench/capacity_parts/costs.ts'
import { costOfMessage, planFor, predictPerSecond, totalOf } from '#bench/capacity_parts/plan.ts'

test('the costs of card messages alone predict their throughput within a quarter', () => {
  const message_us = totalOf(costs.alone) + costs.client_us
  const ratio = predictPerSecond(message_us, 2) / measured.alone
  assert(ratio > 0.75 && ratio < 1.25, `ratio ${ratio}`)
})

test('the plan promises no more than the mix achieved at full load, and at least half of it', () => {
  const ratio = predictPerSecond(totalOf(costOfMessage(costs)), 2) / measured.mix
  assert(ratio > 0.5 && ratio < 1, `ratio ${ratio}`)
})

test('a small program needs one cell and two nodes', () => {
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

test('a large program has several small cells on each server, 128 at most', () => {
  const { cells, servers } = planFor({ accounts: 100_000, peak_per_second: 2_000 }, costs)
  assert.equal(cells, Math.min(128, (servers / 3) * 8))
  const huge = planFor({ accounts: 0, peak_per_second: 50_000 }, costs)
  assert.equal(huge.cells, 128)
})
