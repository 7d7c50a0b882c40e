import { costs, measured } from './capacity_parts/costs.ts'
import {
  assumptions,
  costOfMessage,
  type Demand,
  planFor,
  predictPerSecond,
  totalOf,
} from './capacity_parts/plan.ts'

/**
 * Cells, servers, nodes, storage and yearly cost of a program, from measured costs. Set
 * CAPACITY_ACCOUNTS and CAPACITY_PEAK (authorizations per second) for a program of your own.
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
  const text =
    typeof value === 'object' ? JSON.stringify(value).replaceAll('"', '') : Number(value.toFixed(2))
  console.log(`  ${name.replaceAll('_', ' ').padEnd(28)}${text}`)
}

console.log(`\nChecked against throughput measured on ${CORES} cores`)
const check = (name: string, per_second: number, message_us: number) => {
  const predicted = predictPerSecond(message_us, CORES)
  const figures = [
    `${whole.format(predicted)}/s predicted`,
    `${whole.format(per_second)} measured`,
    `ratio ${(predicted / per_second).toFixed(2)}`,
  ]
  console.log(`  ${name.padEnd(28)}${figures.join(', ')}`)
}
check('card messages alone', measured.alone, totalOf(costs.alone) + costs.client_us)
check('the mix', measured.mix, totalOf(costOfMessage(costs)))
console.log(
  '\nThe plan uses the costs of the mix at the rate of a node. At full load, larger batches make ' +
    'the same calls cheaper, and it does not count on that.',
)
