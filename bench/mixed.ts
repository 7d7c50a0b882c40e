import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { pgbench } from './authorizations_parts/environment.ts'
import { preparePgledger } from './ledger_parts/pgledger.ts'
import { measureKinds } from './mixed_parts/cost_by_kind.ts'
import { startMix } from './mixed_parts/environment.ts'
import { writtenBy } from './mixed_parts/postgres_cost.ts'
import type { Report } from './mixed_parts/traffic.ts'

/**
 * A program's day, compressed: 70 % card messages on four links, 20 % REST reads, 5 % REST writes
 * and 5 % MCP calls of the same accounts, while webhooks go to a live receiver. Accounts differ in
 * activity by a factor of 1,000. Card messages per second as a ratio to pgbench's simple-update
 * with 16 clients, and to random transfers of pgledger where PGLEDGER_DIR names a checkout of it,
 * medians of alternating rounds; then latencies at 500 card messages per second.
 */
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 10_000)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = 3
/** Code that runs rarely is compiled late. */
const WARM_UP_SECONDS = 30
const IN_FLIGHT = 256
/** Of pgbench and pgledger. */
const CLIENTS = 16
const CARD_SHARE = 0.7
const STEADY_CARD_MESSAGES = 500
const TARGET_RATIO = 1.3
const TARGET_P99_MS = 25
/** Statistics of PostgreSQL arrive within a second. */
const STATISTICS_MS = 1_500

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
const quantile = (sorted: readonly number[], at: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0
const show = (value: number, digits = 0) => value.toFixed(digits).padStart(9)

const mix = await startMix(ACCOUNTS, IN_FLIGHT)
const { db, receiver, runTraffic, readCpu, readMemoryMb } = mix

const isCard = (kind: string) => kind.startsWith('card ')
const sumOf = (counts: Record<string, number>, isCounted: (kind: string) => boolean) =>
  Object.entries(counts).reduce((sum, [kind, count]) => sum + (isCounted(kind) ? count : 0), 0)

function print(title: string, reports: readonly Report[], seconds: number): void {
  console.log(`\n${title.padEnd(28)}per second   p50 ms    p99 ms  p99.9 ms`)
  const kinds = [...new Set(reports.flatMap(({ latencies }) => Object.keys(latencies)))].sort()
  for (const kind of kinds) {
    const sorted = reports.flatMap(({ latencies }) => latencies[kind] ?? []).sort((a, b) => a - b)
    const count = reports.reduce((sum, { in_time }) => sum + (in_time[kind] ?? 0), 0)
    const columns = [0.5, 0.99, 0.999].map((at) => show(quantile(sorted, at), 1))
    const per_second = count / seconds / reports.length
    console.log(`${kind.padEnd(28)}${[show(per_second), ...columns].join(' ')}`)
  }
}

await runTraffic({ seconds: WARM_UP_SECONDS })
const memory_mb = [await readMemoryMb()]
const bases: number[] = []
const pool = new pg.Pool({ connectionString: mix.database_url, max: CLIENTS })
// The server may close a connection before the pool does.
pool.on('error', () => undefined)
const pgledger = await preparePgledger(pool, { accounts: 1_000, clients: CLIENTS })
const transfer_rates: number[] = []
const reports: Report[] = []
const spent = { service_us: 0, postgres_us: 0, wal_bytes: 0, rows: 0, webhooks: 0 }
for (let round = 0; round < ROUNDS; round += 1) {
  bases.push(pgbench(mix.database_url, SECONDS) ?? Number.NaN)
  if (pgledger !== null) transfer_rates.push(await pgledger.measure(SECONDS))
  await mix.settle()
  await receiver.takeReport()
  const before = { ...(await writtenBy(db)), ...(await readCpu()) }
  reports.push(await runTraffic({ seconds: SECONDS }))
  const { service_us, postgres_us } = await readCpu()
  spent.service_us += service_us - before.service_us
  memory_mb.push(await readMemoryMb())
  spent.postgres_us += postgres_us - before.postgres_us
  await delay(STATISTICS_MS)
  const written = await writtenBy(db)
  spent.wal_bytes += written.wal_bytes - before.wal_bytes
  spent.rows += written.rows - before.rows
  spent.webhooks += (await receiver.takeReport()).count
}
await mix.startProfile()
const profiled = await runTraffic({ seconds: SECONDS })
const parts = await mix.endProfile()
await mix.settle()
const steady = await runTraffic({
  seconds: SECONDS,
  per_second: STEADY_CARD_MESSAGES / CARD_SHARE,
})

const kind_costs = await measureKinds({ runTraffic, readCpu, seconds: SECONDS })

const base = median(bases)
const card_rates = reports.map(({ in_time }) => sumOf(in_time, isCard) / SECONDS)
const ratio = median(card_rates) / base
const transfers = median(transfer_rates)
print(`${IN_FLIGHT} in flight`, reports, SECONDS)
console.log(
  `pgbench simple-update ${base.toFixed(0)}/s; card messages ${ratio.toFixed(2)} × pgbench`,
)
if (pgledger !== null) {
  const times = (median(card_rates) / transfers).toFixed(2)
  console.log(`pgledger ${transfers.toFixed(0)} transfers/s; card messages ${times} × pgledger`)
}
console.log(`webhooks received: ${(spent.webhooks / ROUNDS / SECONDS).toFixed(0)}/s`)
print(`${STEADY_CARD_MESSAGES} card messages/s`, [steady], SECONDS)

const messages = reports.reduce((sum, { latencies }) => {
  return (
    sum +
    Object.entries(latencies).reduce((n, [kind, all]) => n + (isCard(kind) ? all.length : 0), 0)
  )
}, 0)
console.log('\nPer card message, with its share of the other calls')
console.log(`${'WAL, bytes'.padEnd(28)}${show(spent.wal_bytes / messages)}`)
console.log(`${'rows written'.padEnd(28)}${show(spent.rows / messages, 1)}`)
console.log(`${'PostgreSQL, µs of CPU'.padEnd(28)}${show(spent.postgres_us / messages)}`)
console.log(`${'service, µs of CPU'.padEnd(28)}${show(spent.service_us / messages)}`)
const profiled_messages = sumOf(profiled.in_time, isCard)
for (const [part, us] of Object.entries(parts).sort(([, a], [, b]) => b - a)) {
  console.log(`${`  ${part}`.padEnd(28)}${show(us / profiled_messages)}`)
}

console.log(`Service memory: ${memory_mb.map((mb) => mb.toFixed(0)).join(', ')} MB`)
console.log('\nAlone, µs of CPU per call  per second   service  PostgreSQL')
for (const { name, per_second, service_us, postgres_us } of kind_costs) {
  console.log(
    `${name.padEnd(28)}${[per_second, service_us, postgres_us].map((one) => show(one)).join(' ')}`,
  )
}

const errors = [...reports, profiled, steady].flatMap((report) => report.errors)
for (const error of errors.slice(0, 10)) console.error(`error: ${error}`)
const steady_ms = Object.entries(steady.latencies)
  .flatMap(([kind, all]) => (isCard(kind) ? all : []))
  .sort((a, b) => a - b)
const is_met =
  errors.length === 0 &&
  (Number.isNaN(base) || ratio >= TARGET_RATIO) &&
  quantile(steady_ms, 0.99) <= TARGET_P99_MS
console.log(
  `targets: card messages ≥ ${TARGET_RATIO} × pgbench, p99 ≤ ${TARGET_P99_MS} ms at ` +
    `${STEADY_CARD_MESSAGES} per second, no error: ${is_met ? 'met' : 'missed'}`,
)
if (!is_met) process.exitCode = 1

await pool.end()
await mix.stop()
