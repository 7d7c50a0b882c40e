import { startMix } from './mixed_parts/environment.ts'
import { tablesOf } from './mixed_parts/table_sizes.ts'

/**
 * The mix at a moderate rate for a long time: the service's memory, dead rows and autovacuum.
 *
 *   BENCH_MINUTES=60 npm run bench -- memory     default: 3 minutes, too few for a verdict
 */
const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 3)
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 2_000)
const CARD_MESSAGES = Number(process.env['BENCH_RATE'] ?? 100)
const CARD_SHARE = 0.7
const IN_FLIGHT = 256
/** Caches fill and code is compiled in these minutes. */
const WARM_UP = 10
const COMPARED = 10
const RISE_MAX = 0.1
const MINUTES_PER_LINE = 5

const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, each) => sum + each, 0) / numbers.length

const mix = await startMix(ACCOUNTS, IN_FLIGHT)
const memory_mb: number[] = []
const errors: string[] = []
let calls = 0
console.log('minute    calls  memory MB  database MB  dead rows  autovacuums')
for (let minute = 1; minute <= MINUTES; minute += 1) {
  const report = await mix.runTraffic({ seconds: 60, per_second: CARD_MESSAGES / CARD_SHARE })
  errors.push(...report.errors)
  calls += Object.values(report.latencies).reduce((sum, all) => sum + all.length, 0)
  memory_mb.push(await mix.readMemoryMb())
  if (minute % MINUTES_PER_LINE !== 0 && minute !== MINUTES) continue
  const tables = await tablesOf(mix.db)
  const sumOf = (of: 'mb' | 'dead_rows' | 'autovacuums') =>
    tables.reduce((sum, table) => sum + table[of], 0)
  const columns = [memory_mb.at(-1) ?? 0, sumOf('mb'), sumOf('dead_rows'), sumOf('autovacuums')]
  const widths = [11, 13, 11, 13]
  const text = columns.map((value, at) => value.toFixed(0).padStart(widths[at] ?? 0)).join('')
  console.log(`${String(minute).padStart(6)}${String(calls).padStart(9)}${text}`)
}

console.log('\ntable                       MB      rows      dead  autovacuums')
for (const { name, mb, rows, dead_rows, autovacuums } of await tablesOf(mix.db)) {
  const columns = [mb.toFixed(1), rows, dead_rows, autovacuums]
  const widths = [9, 10, 10, 13]
  const text = columns.map((value, at) => String(value).padStart(widths[at] ?? 0)).join('')
  console.log(`${name.padEnd(21)}${text}`)
}
for (const error of errors.slice(0, 10)) console.error(`error: ${error}`)
const [early, late] = [
  mean(memory_mb.slice(WARM_UP, WARM_UP + COMPARED)),
  mean(memory_mb.slice(-COMPARED)),
]
if (MINUTES >= WARM_UP + 2 * COMPARED) {
  const is_flat = late <= early * (1 + RISE_MAX)
  console.log(
    `memory: ${early.toFixed(0)} MB after the warm-up, ${late.toFixed(0)} MB at the end; ` +
      `${is_flat ? 'flat' : 'it rises'}`,
  )
  if (!is_flat) process.exitCode = 1
}
if (errors.length > 0) process.exitCode = 1
await mix.stop()
