import { costs, measured_points } from './capacity_parts/costs.ts'
import { assumptions, type Demand, planFor, predictPerSecond } from './capacity_parts/plan.ts'

/**
 * Cells, servers, nodes, storage and yearly cost of a programme, from measured costs. Set
 * CAPACITY_ACCOUNTS and CAPACITY_PEAK (authorizations per second) for a programme of your own.
 */
const CORES = 2

const { CAPACITY_ACCOUNTS, CAPACITY_PEAK } = process.env
const demands: Demand[] = [
  { accounts: 10_000, peak_per_second: 1 },
  { accounts: 100_000, peak_per_second: 10 },
  { accounts: 1_000_000, peak_per_second: 100 },
  { accounts: 10_000_000, peak_per_second: 1_000 },
]
if (CAPACITY_ACCOUNTS !== undefined || CAPACITY_PEAK !== undefined) {
  demands.splice(0, demands.length, {
    accounts: Number(CAPACITY_ACCOUNTS ?? 10_000),
    peak_per_second: Number(CAPACITY_PEAK ?? 100),
  })
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const row = (cells: readonly (string | number)[]) =>
  console.log(
    cells
      .map((cell) => (typeof cell === 'number' ? whole.format(cell) : cell).padStart(13))
      .join(''),
  )

row(['accounts', 'peak/s', 'cells', 'servers', 'nodes', 'online GB', 'archive GB/y', 'USD/y'])
for (const demand of demands) {
  const plan = planFor(demand, costs)
  row([
    demand.accounts,
    demand.peak_per_second,
    plan.cells,
    plan.servers,
    plan.nodes,
    plan.online_gb * assumptions.copies,
    plan.archived_gb_per_year,
    plan.usd_per_year,
  ])
}

console.log('\nAssumptions')
for (const [name, value] of Object.entries({ ...costs, ...assumptions })) {
  const text = typeof value === 'object' ? JSON.stringify(value).replaceAll('"', '') : value
  console.log(`  ${name.replaceAll('_', ' ').padEnd(28)}${text}`)
}

console.log(`\nChecked against throughput measured on ${CORES} cores`)
for (const { name, per_second, parts } of measured_points) {
  const predicted = predictPerSecond(costs, parts, CORES)
  const figures = [
    `${whole.format(predicted)}/s predicted`,
    `${whole.format(per_second)} measured`,
    `ratio ${(predicted / per_second).toFixed(2)}`,
  ]
  console.log(`  ${name.padEnd(28)}${figures.join(', ')}`)
}
