import { readdirSync, readFileSync } from 'node:fs'
import { openDatabase } from '#platform/postgres/db.ts'
import { startFlorin } from '#test/support/florin_process.ts'
import { freePort } from '#test/support/port.ts'
import type { Job } from './authorizations_parts/client.ts'
import { startClient, startEnvironment } from './authorizations_parts/environment.ts'

/**
 * CPU time per card message of `florin start` with one process and with several workers, PostgreSQL
 * included, for few busy cards and for many. Workers split the same messages into smaller batches
 * and meet each other's locks.
 */
const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 20_000)
/** Per process. A cold one takes several times the CPU, so time alone would measure the machine. */
const WARM_UP_MESSAGES = 10_000
const RUN_SECONDS = 2
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 2)
const WORKERS = Number(process.env['BENCH_WORKERS'] ?? 2)
const CARD_COUNTS = (process.env['BENCH_CARDS'] ?? '500,10000').split(',').map(Number)
const IN_FLIGHT = 256
const RISE_MAX = 0.1
/** USER_HZ of Linux. */
const TICK_US = 10_000

const environment = await startEnvironment(Math.max(...CARD_COUNTS))
const client = await startClient()
const db = openDatabase(environment.url, { pool_size: 1 })

type ProcessTimes = { pid: number; parent: number; ticks: number; command: string }

/** All processes with their CPU time and that of their ended children. */
function readProcesses(): ProcessTimes[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
        const ticks = fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0)
        return [{ pid: Number(name), parent: Number(fields[1]), ticks, command }]
      } catch {
        return []
      }
    })
}

/** The processes that this one started, without the client. */
function descendants(): ProcessTimes[] {
  const all = readProcesses().filter(({ command }) => !command.includes('client.js'))
  const found: ProcessTimes[] = []
  for (let parents = [process.pid]; parents.length > 0; ) {
    const children = all.filter(({ parent }) => parents.includes(parent))
    found.push(...children)
    parents = children.map(({ pid }) => pid)
  }
  return found
}

const IS_SERVICE = /worker_process|florin\.js/

type CpuTimes = { workers: number; parent: number; postgres: number }

/** CPU time so far. A service of one process has the CPU time of `parent`. */
function cpuUs(): CpuTimes {
  const times: CpuTimes = { workers: 0, parent: 0, postgres: 0 }
  for (const { command, ticks } of descendants()) {
    const part = /worker_process/.test(command)
      ? 'workers'
      : IS_SERVICE.test(command)
        ? 'parent'
        : 'postgres'
    times[part] += ticks * TICK_US
  }
  return times
}

/** The resident memory of the processes that serve. */
function servingMemory(): string {
  return descendants()
    .filter(({ command }) => IS_SERVICE.test(command))
    .map(({ pid }) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    .map((kilobytes) => `${Math.round(Number(kilobytes) / 1_000)} MB`)
    .join(', ')
}

async function commitsOf(): Promise<number> {
  const [row] = await db.rows<{ commits: bigint }>(
    'select xact_commit commits from pg_stat_database where datname = current_database()',
  )
  return Number(row?.commits)
}

type Measurement = CpuTimes & {
  per_second: number
  cpu_us: number
  /** Messages per commit of any kind: nearly those of a batch. */
  per_commit: number
  memory: string
}

/** Sends at least a number of messages, in runs of a few seconds. */
async function sendMessages(job: Job, count: number) {
  const sent = { messages: 0, others: 0 }
  let [in_time, seconds] = [0, 0]
  while (sent.messages < count) {
    const report = await client.run(job)
    sent.messages += report.latencies_ms.length
    sent.others += report.others
    in_time += report.in_time
    seconds += job.seconds
  }
  return { ...sent, per_second: in_time / seconds }
}

async function measure(workers: number, card_count: number): Promise<Measurement> {
  await environment.settle()
  const port = await freePort()
  const service = await startFlorin({
    FLORIN_WORKERS: String(workers),
    FLORIN_DATABASE_URL: environment.url,
    FLORIN_DATA_DIR: environment.data_dir,
    FLORIN_ISO_PORT: String(port),
    FLORIN_RATE_PROFILE: 'off',
    NODE_OPTIONS: '--max-semi-space-size=32',
  })
  const cards = environment.cards.slice(0, card_count).map(({ pan, expiry }) => ({ pan, expiry }))
  const job = { port, cards, in_flight: IN_FLIGHT, per_second: null, seconds: RUN_SECONDS }
  await sendMessages(job, WARM_UP_MESSAGES * workers)
  const [before, commits] = [cpuUs(), await commitsOf()]
  const { messages, per_second, others } = await sendMessages(job, MESSAGES)
  const after = cpuUs()
  const per_commit = messages / ((await commitsOf()) - commits)
  const perMessage = (part: keyof CpuTimes) => (after[part] - before[part]) / messages
  const parts = {
    workers: perMessage('workers'),
    parent: perMessage('parent'),
    postgres: perMessage('postgres'),
  }
  const cpu_us = parts.workers + parts.parent + parts.postgres
  const memory = servingMemory()
  service.signal('SIGTERM')
  await service.ended
  if (others > 0) console.log(`${others} messages were not approved`)
  return { ...parts, per_second, cpu_us, per_commit, memory }
}

const round = (value: number, digits = 0) => value.toFixed(digits).padStart(9)

function print(name: string, { memory, ...run }: Measurement): void {
  const parts = [run.cpu_us, run.workers, run.parent, run.postgres].map((us) => round(us)).join('')
  console.log(
    `${name.padEnd(12)}${round(run.per_second)}${parts}${round(run.per_commit, 1)}   ${memory}`,
  )
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = (sorted.length - 1) / 2
  return ((sorted[Math.floor(half)] as number) + (sorted[Math.ceil(half)] as number)) / 2
}

for (const card_count of CARD_COUNTS) {
  console.log(`${card_count} cards; CPU in µs per message`)
  console.log('             a second      CPU  workers   parent postgres  /commit   memory')
  const cpu: [number[], number[]] = [[], []]
  for (let at = 0; at < ROUNDS; at += 1) {
    const one = await measure(1, card_count)
    print('one process', one)
    cpu[0].push(one.cpu_us)
    const several = await measure(WORKERS, card_count)
    print(`${WORKERS} workers`, several)
    cpu[1].push(several.cpu_us)
  }
  const rise = median(cpu[1]) / median(cpu[0]) - 1
  const verdict = rise <= RISE_MAX ? 'met' : 'missed'
  console.log(`rise ${(rise * 100).toFixed(1)} %, target ≤ ${RISE_MAX * 100} %: ${verdict}\n`)
  if (rise > RISE_MAX) process.exitCode = 1
}

client.stop()
await db.close()
await environment.stop()
