import { readdirSync, readFileSync } from 'node:fs'
import { startFlorin } from '#test/support/florin_process.ts'
import { freePort } from '#test/support/port.ts'
import { startClient, startEnvironment } from './authorizations_parts/environment.ts'

/**
 * CPU time per card message of `florin start` with one process and with two workers, PostgreSQL
 * included: workers split the same messages into smaller batches.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const WARM_UP_SECONDS = 4
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 2)
const CARDS = 500
const IN_FLIGHT = 256
const RISE_MAX = 0.1
/** USER_HZ of Linux. */
const TICK_US = 10_000

const environment = await startEnvironment(CARDS)
const client = await startClient()
const cards = environment.cards.map(({ pan, expiry }) => ({ pan, expiry }))

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

const cpuUs = () => descendants().reduce((sum, { ticks }) => sum + ticks, 0) * TICK_US

/** The resident memory of the processes that serve. */
function servingMemory(): string {
  const serving = descendants().filter(({ command }) => /worker_process|florin\.js/.test(command))
  return serving
    .map(({ pid }) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    .map((kilobytes) => `${Math.round(Number(kilobytes) / 1_000)} MB`)
    .join(', ')
}

type Measurement = { per_second: number; cpu_us: number; memory: string }

async function measure(workers: number): Promise<Measurement> {
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
  const job = { port, cards, in_flight: IN_FLIGHT, per_second: null }
  await client.run({ ...job, seconds: WARM_UP_SECONDS })
  const before = cpuUs()
  const { latencies_ms, in_time, others } = await client.run({ ...job, seconds: SECONDS })
  const cpu_us = (cpuUs() - before) / latencies_ms.length
  const memory = servingMemory()
  service.signal('SIGTERM')
  await service.ended
  if (others > 0) console.log(`${others} messages were not approved`)
  return { per_second: in_time / SECONDS, cpu_us, memory }
}

const runs: Record<1 | 2, Measurement[]> = { 1: [], 2: [] }
for (let round = 0; round < ROUNDS; round += 1) {
  for (const workers of [1, 2] as const) runs[workers].push(await measure(workers))
}
const best = (workers: 1 | 2): Measurement =>
  runs[workers].reduce((least, run) => (run.cpu_us < least.cpu_us ? run : least))

console.log('               per second   CPU µs per message   memory of its processes')
for (const workers of [1, 2] as const) {
  const { per_second, cpu_us, memory } = best(workers)
  const name = (workers === 1 ? 'one process' : 'two workers').padEnd(14)
  const numbers = `${per_second.toFixed(0).padStart(10)} ${cpu_us.toFixed(0).padStart(20)}`
  console.log(`${name} ${numbers}   ${memory}`)
}
const rise = best(2).cpu_us / best(1).cpu_us - 1
const verdict = rise <= RISE_MAX ? 'met' : 'missed'
console.log(`rise ${(rise * 100).toFixed(1)} %, target ≤ ${RISE_MAX * 100} %: ${verdict}`)
if (rise > RISE_MAX) process.exitCode = 1

client.stop()
await environment.stop()
