import { objectionsTo } from '#domain/authorizations/checks.ts'
import { type Engine, makeEngine } from '#domain/authorizations/engine.ts'
import { declined } from '#domain/authorizations/record.ts'
import { dispatch, type HostSeams } from '#doors/card_host/dispatch.ts'
import { toRequest } from '#doors/card_host/to_request.ts'
import { toResponse } from '#doors/card_host/to_response.ts'
import { default_link } from '#iso8583/links.ts'
import { maskMessage } from '#iso8583/mask.ts'
import { decode } from '#iso8583/message.ts'
import { openDatabase } from '#platform/db.ts'
import { frameMaker } from './authorizations_parts/messages.ts'
import { requestMaker } from './authorizations_parts/requests.ts'
import {
  pgbench,
  startClient,
  startIssuer,
  startWorld,
  type World,
} from './authorizations_parts/world.ts'

/**
 * Authorizations a second, durable commits, on one PostgreSQL: over TCP with 256 in flight, the
 * engine by itself and behind the codec in this process, and unbatched; as ratios in one run to
 * pgbench's simple-update with 16 clients. Then the latency at 500 a second, and where the
 * processor's time goes.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
/** Before anything is measured, so that all is compiled as it is in a service that runs. */
const WARM_UP_SECONDS = 6
const CARDS = 500
const IN_FLIGHT = 256
const IN_PROCESS_FLIGHT = 512
const ENGINE_FLIGHT = 1_024

const world = await startWorld(CARDS)
const client = await startClient()
const cards = world.cards.map(({ pan, expiry }) => ({ pan, expiry }))

const quantile = (sorted: readonly number[], at: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0

type Figure = { name: string; per_second: number; p50: number; p99: number; others: number }

type Terms = { batch_max?: number; per_second?: number; warm_up_seconds?: number }

async function overTcp(
  name: string,
  { batch_max, per_second, warm_up_seconds = 1 }: Terms = {},
): Promise<Figure> {
  await world.settle()
  const issuer = await startIssuer(world, batch_max)
  const job = { port: issuer.port, cards, in_flight: IN_FLIGHT }
  await client.run({ ...job, seconds: warm_up_seconds, per_second: per_second ?? null })
  const report = await client.run({ ...job, seconds: SECONDS, per_second: per_second ?? null })
  await issuer.stop()
  const sorted = report.latencies_ms.sort((a, b) => a - b)
  return {
    name,
    per_second: report.in_time / SECONDS,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    others: report.others,
  }
}

type InProcess = Figure & { cpu_us: number }
type Ask = () => Promise<unknown> | undefined

/** What is asked in this process, so many at once. */
async function inProcess(
  { seams, url, settle }: World,
  name: string,
  { in_flight, askOf }: { in_flight: number; askOf(engine: Engine): Ask },
): Promise<InProcess> {
  await settle()
  const db = openDatabase(url, { pool_size: 3, key_lookups: true })
  const engine = makeEngine({ ...seams, db })
  const ask = askOf(engine)
  await drive(ask, in_flight, 1)
  const cpu = process.cpuUsage()
  const { in_time, latencies } = await drive(ask, in_flight, SECONDS)
  const sorted = latencies.sort((a, b) => a - b)
  const { user, system } = process.cpuUsage(cpu)
  await engine.drain()
  await db.close()
  return {
    name: `${name}, ${in_flight} in flight`,
    per_second: in_time / SECONDS,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    others: 0,
    cpu_us: (user + system) / sorted.length,
  }
}

/** From the bytes of a message to those of its answer, as the host does it. */
const throughTheCodec = (engine: Engine): Ask => {
  const host: HostSeams = { ...world.seams, engine, link: default_link }
  const make = frameMaker(cards)
  return () => dispatch(host, { sign_on: 'done' }, make().body)?.answer as Promise<unknown>
}

type Driven = { in_time: number; latencies: number[] }

/** So many at once, for so long: how many were done by then, and how long each of them took. */
async function drive(ask: Ask, in_flight: number, seconds: number): Promise<Driven> {
  const driven: Driven = { in_time: 0, latencies: [] }
  const until = performance.now() + seconds * 1_000
  const one = async () => {
    for (let now = performance.now(); now < until; ) {
      const began = now
      await ask()
      now = performance.now()
      driven.latencies.push(now - began)
      if (now <= until) driven.in_time += 1
    }
  }
  await Promise.all(Array.from({ length: in_flight }, one))
  return driven
}

/** Microseconds of one call, by many. */
function timed(work: () => unknown): number {
  const TIMES = 20_000
  for (let at = 0; at < 2_000; at += 1) work()
  const began = process.cpuUsage()
  for (let at = 0; at < TIMES; at += 1) work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / TIMES
}

function parts({ seams }: World): Record<string, number> {
  const { body } = frameMaker(cards)()
  const { keys } = seams
  const message = decode(default_link, body)
  const masked = maskMessage(default_link, message)
  const received_at = new Date()
  const request = toRequest(message, {
    link: default_link,
    keys,
    received_at,
    masked,
    answer: () => ({}) as never,
    restore: () => body,
  })
  const card = {
    account_id: '',
    id: '',
    brand: 'visa' as const,
    status: 'active' as const,
    last4: '',
    exp_month: 12,
    exp_year: 2100,
    mcc_allow: null,
    mcc_deny: null,
    geo_allow: null,
    geo_deny: null,
    pan_hash: '',
    is_suspended: false,
    limits: { per_transaction: 10n ** 9n, daily: 10n ** 12n, monthly: 10n ** 12n },
    spent: { card_id: 'card', day: '2026-11-15', daily: 0n, monthly: 0n },
    failed_at: [],
  }
  const situation = {
    request: { ...request, expiry: null },
    card,
    now: received_at,
    is_paused: false,
    is_reversed: false,
    challenge: null,
    incremented: 0n,
    available: 10n ** 9n,
    owed: 0n,
  }
  const asked = { link: default_link, message, is_advice: false, has_code: false }
  const decision = declined('insufficient_funds')
  return {
    decode: timed(() => decode(default_link, body)),
    mask: timed(() => maskMessage(default_link, message)),
    translate: timed(() => toRequest(message, { ...request, link: default_link, keys, masked })),
    checks: timed(() => objectionsTo(situation)),
    answer: timed(() => toResponse(asked, decision)),
  }
}

const show = (value: number, digits = 0) => value.toFixed(digits).padStart(9)

const base = pgbench(world.url, SECONDS)
const tcp = await overTcp(`TCP, ${IN_FLIGHT} in flight`, { warm_up_seconds: WARM_UP_SECONDS })
const alone = await inProcess(world, 'engine in process', {
  in_flight: ENGINE_FLIGHT,
  askOf: (engine) => {
    const make = requestMaker(world)
    return () => engine.submit(make())
  },
})
const driven = await inProcess(world, 'codec too, in process', {
  in_flight: IN_PROCESS_FLIGHT,
  askOf: throughTheCodec,
})
const unbatched = await overTcp(`TCP, ${IN_FLIGHT} in flight, unbatched`, { batch_max: 1 })
const steady = await overTcp('TCP, 500 a second', { per_second: 500 })

console.log('                                    per second   p50 ms    p99 ms  × pgbench')
if (base === null) console.log('no pgbench on this machine: no ratio to it')
else console.log(`${'pgbench simple-update, 16 clients'.padEnd(36)}${show(base)}`)
for (const figure of [tcp, alone, driven, unbatched, steady]) {
  const ratio = base === null ? '' : show(figure.per_second / base, 2)
  const line = [show(figure.per_second), show(figure.p50, 1), show(figure.p99, 1), ratio]
  const refused = figure.others > 0 ? `  (${figure.others} not approved)` : ''
  console.log(`${figure.name.padEnd(36)}${line.join(' ')}${refused}`)
}
const batched_ratio = tcp.per_second / unbatched.per_second
console.log(`batched is ${batched_ratio.toFixed(1)} × unbatched`)
const is_met =
  (base === null || (tcp.per_second >= 1.5 * base && alone.per_second >= 2.5 * base)) &&
  batched_ratio >= 4 &&
  steady.p99 <= 25
console.log(
  'targets: TCP ≥ 1.5 and the engine ≥ 2.5 × pgbench, batched ≥ 4 × unbatched, ' +
    `p99 ≤ 25 ms at 500 a second: ${is_met ? 'met' : 'missed'}`,
)
if (!is_met) process.exitCode = 1

const costs = parts(world)
console.log('\nCPU of this process per authorization, µs')
for (const [name, cost] of Object.entries(costs)) console.log(`${name.padEnd(36)}${show(cost, 1)}`)
console.log(`${'engine and database client'.padEnd(36)}${show(alone.cpu_us, 1)}`)
console.log(`${'with the codec, all of it'.padEnd(36)}${show(driven.cpu_us, 1)}`)

client.stop()
await world.stop()
