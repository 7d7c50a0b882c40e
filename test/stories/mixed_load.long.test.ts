// Runs alone, because it loads the machine and bounds response times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { runMixedFlood } from '#test/support/mixed_flood.ts'
import { runMixedStorm, type StormResult } from '#test/support/mixed_storm.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startNodeProcesses } from '#test/support/nodes.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const SECONDS = Number(process.env['FLORIN_STORM_SECONDS'] ?? 60)

const { host, nodes: both } = await startNodeProcesses(2)
const topologies = [
  ['one node', both.slice(0, 1)],
  ['two nodes', both],
] as const

async function prove(result: StormResult): Promise<string> {
  assert((result.response_codes.get('00') ?? 0) > result.card_messages / 4, 'many are approved')
  await assertBooksSound(host.runtime.db)
  await assertEventsAreWhole(host.runtime.db)
  const codes = JSON.stringify(Object.fromEntries(result.response_codes))
  const [row] = await host.owner_db.rows<{ deadlocks: bigint }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  const calls = `${result.owner_calls} owner calls, ${row?.deadlocks} deadlocks retried`
  return `${result.card_messages} card messages ${codes}, ${calls}`
}

for (const [name, nodes] of topologies) {
  test(`${SECONDS} s of twelve mixed clients on ${name}: no 5xx, no 91 or 96, seed ${seed}`, async (t) => {
    const end_ms = performance.now() + SECONDS * 1_000
    const isOver = () => performance.now() > end_ms
    const storm = { host, nodes, seed, clients: 12, message_percent: 60, isOver }
    t.diagnostic(await prove(await runMixedStorm(storm)))
  })

  test(`256 messages in flight beside 50 owner writes a second on ${name}: no failure, seed ${seed}`, async (t) => {
    const rates = { in_flight: 256, owner_calls_per_second: 50, seconds: SECONDS }
    t.diagnostic(await prove(await runMixedFlood({ host, nodes, seed, ...rates })))
  })
}
