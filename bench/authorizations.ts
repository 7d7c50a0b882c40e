import { findObjections } from '#domain/authorizations/checks.ts'
import { type Engine, makeEngine } from '#domain/authorizations/engine.ts'
import { declined } from '#domain/authorizations/record.ts'
import { type CardHostDependencies, dispatch } from '#doors/card_host/dispatch.ts'
import { type RequestSource, toRequest } from '#doors/card_host/to_request.ts'
import { toResponse } from '#doors/card_host/to_response.ts'
import { default_link } from '#iso8583/links.ts'
import { maskBytes } from '#iso8583/mask.ts'
import { decode } from '#iso8583/message.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import {
  type BenchEnvironment,
  pgbench,
  pgbenchLatencies,
  startClient,
  startEnvironment,
  startIssuer,
} from './authorizations_parts/environment.ts'
import { frameMaker } from './authorizations_parts/messages.ts'
import { requestMaker } from './authorizations_parts/requests.ts'
import { is_check, reportRatio } from './goals_parts/goals.ts'

/**
 * Authorizations per second with durable commits on one PostgreSQL: over TCP with 256 in flight,
 * the engine alone, the engine with the codec, and unbatched, each as a ratio to pgbench's
 * simple-update with 16 clients in the same run. Then the latency at 500 per second, and the CPU
 * time per step.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
/** Lets V8 compile the code before the first measurement. */
const WARM_UP_SECONDS = 6
const CARDS = 500
const TCP_IN_FLIGHT = 256
const CODEC_IN_FLIGHT = 512
const ENGINE_IN_FLIGHT = 1_024
const STEADY = 500

const TCP_RATIO = 2
const ENGINE_RATIO = 3.5
const BATCHED_RATIO = 4
const P99_MS = 12

const environment = await startEnvironment(CARDS)
const client = await startClient()
const cards = environment.cards.map(({ pan, expiry }) => ({ pan, expiry }))

const quantile = (sorted: readonly number[], at: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0

type Measurement = { name: string; per_second: number; p50: number; p99: number; others: number }

type TcpOptions = { batch_max?: number; per_second?: number; warm_up_seconds?: number }

async function measureTcp(
  name: string,
  { batch_max, per_second, warm_up_seconds = 1 }: TcpOptions = {},
): Promise<Measurement> {
  await environment.settle()
  const issuer = await startIssuer(environment, batch_max)
  const job = { port: issuer.port, cards, in_flight: TCP_IN_FLIGHT }
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

/** What PostgreSQL and the disk leave of the goal: three small statements at the same rate. */
async function measureFloor(): Promise<Measurement[]> {
  await environment.settle()
  const load = { per_second: STEADY, seconds: SECONDS }
  const latencies = await pgbenchLatencies(environment, load)
  if (latencies === null) return []
  const sorted = latencies.sort((a, b) => a - b)
  return [
    {
      name: `pgbench, ${STEADY} per second`,
      per_second: sorted.length / SECONDS,
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      others: 0,
    },
  ]
}

type InProcessMeasurement = Measurement & { cpu_us: number }
type Send = () => Promise<unknown> | undefined

/** Runs the load generator and the engine in this process. */
async function measureInProcess(
  { dependencies, url, settle }: BenchEnvironment,
  name: string,
  { in_flight, createSend }: { in_flight: number; createSend(engine: Engine): Send },
): Promise<InProcessMeasurement> {
  await settle()
  const db = openDatabase(url, { pool_size: 3, key_lookups: true })
  const engine = makeEngine({ ...dependencies, db })
  const send = createSend(engine)
  await runLoad(send, in_flight, 1)
  const cpu = process.cpuUsage()
  const { in_time, latencies } = await runLoad(send, in_flight, SECONDS)
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

/** From request bytes to response bytes, as in the card host. */
const sendThroughCodec = (engine: Engine): Send => {
  const host: CardHostDependencies = { ...environment.dependencies, engine, link: default_link }
  const make = frameMaker(cards)
  return () => {
    const outcome = dispatch(host, { sign_on: 'signed_on' }, make().body)
    return outcome.type === 'pending' ? outcome.response : undefined
  }
}

type LoadResult = { in_time: number; latencies: number[] }

/** Keeps a number of requests in flight and records how many finished in time and their latency. */
async function runLoad(send: Send, in_flight: number, seconds: number): Promise<LoadResult> {
  const with_codec: LoadResult = { in_time: 0, latencies: [] }
  const until = performance.now() + seconds * 1_000
  const one = async () => {
    for (let now = performance.now(); now < until; ) {
      const began = now
      await send()
      now = performance.now()
      with_codec.latencies.push(now - began)
      if (now <= until) with_codec.in_time += 1
    }
  }
  await Promise.all(Array.from({ length: in_flight }, one))
  return with_codec
}

/** Average CPU time of one call in microseconds. */
function measureCpuUs(work: () => unknown): number {
  const TIMES = 20_000
  for (let at = 0; at < 2_000; at += 1) work()
  const began = process.cpuUsage()
  for (let at = 0; at < TIMES; at += 1) work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / TIMES
}

function measureSteps({ dependencies }: BenchEnvironment): Record<string, number> {
  const { body } = frameMaker(cards)()
  const { keys } = dependencies
  const message = decode(default_link, body)
  const received_at = new Date()
  const source: RequestSource = {
    link: default_link,
    keys,
    received_at,
    deadline_ms: Number.POSITIVE_INFINITY,
    message: { mti: message.mti, raw: maskBytes(default_link, message), fields: null },
    answer: () => ({}) as never,
    restore: () => body,
  }
  const request = toRequest(message, source)
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
    usage: 'reusable' as const,
    merchant_lock_name: null,
    merchant_lock_id: null,
    valid_until: null,
    cancel_reason: null,
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
  const context = { link: default_link, message, is_advice: false, has_cvv: false }
  const decision = declined('insufficient_funds')
  return {
    decode: measureCpuUs(() => decode(default_link, body)),
    mask: measureCpuUs(() => maskBytes(default_link, message)),
    translate: measureCpuUs(() => toRequest(message, source)),
    checks: measureCpuUs(() => findObjections(situation)),
    response: measureCpuUs(() => toResponse(context, decision)),
  }
}

const show = (value: number, digits = 0) => value.toFixed(digits).padStart(9)

const runEngine = () =>
  measureInProcess(environment, 'engine only', {
    in_flight: ENGINE_IN_FLIGHT,
    createSend: (engine) => {
      const make = requestMaker(environment)
      return () => engine.submit(make())
    },
  })

const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / ROUNDS

/** Rounds alternate, so that other load on the machine affects all three equally. */
async function check(): Promise<void> {
  const rates = { base: [] as number[], tcp: [] as number[], engine: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const base = pgbench(environment.url, SECONDS)
    if (base === null) return console.log('pgbench is not installed: no ratio')
    rates.base.push(base)
    rates.tcp.push((await measureTcp('TCP')).per_second)
    rates.engine.push((await runEngine()).per_second)
  }
  reportRatio('TCP to pgbench', mean(rates.tcp) / mean(rates.base))
  reportRatio('engine to pgbench', mean(rates.engine) / mean(rates.base))
}

async function measureAll(): Promise<void> {
  const base = pgbench(environment.url, SECONDS)
  const tcp = await measureTcp(`TCP, ${TCP_IN_FLIGHT} in flight`, {
    warm_up_seconds: WARM_UP_SECONDS,
  })
  const engine_only = await runEngine()
  const with_codec = await measureInProcess(environment, 'engine and codec', {
    in_flight: CODEC_IN_FLIGHT,
    createSend: sendThroughCodec,
  })
  const unbatched = await measureTcp(`TCP, ${TCP_IN_FLIGHT} in flight, unbatched`, { batch_max: 1 })
  const steady = await measureTcp(`TCP, ${STEADY} per second`, { per_second: STEADY })
  const floor = await measureFloor()

  console.log('                                    per second   p50 ms    p99 ms  × pgbench')
  if (base === null) console.log('pgbench is not installed: no ratio')
  else console.log(`${'pgbench simple-update, 16 clients'.padEnd(36)}${show(base)}`)
  for (const measurement of [tcp, engine_only, with_codec, unbatched, steady, ...floor]) {
    const ratio = base === null ? '' : show(measurement.per_second / base, 2)
    const line = [
      show(measurement.per_second),
      show(measurement.p50, 1),
      show(measurement.p99, 1),
      ratio,
    ]
    const refused = measurement.others > 0 ? `  (${measurement.others} not approved)` : ''
    console.log(`${measurement.name.padEnd(36)}${line.join(' ')}${refused}`)
  }
  const batched_ratio = tcp.per_second / unbatched.per_second
  console.log(`batched is ${batched_ratio.toFixed(1)} × unbatched`)
  const is_met =
    (base === null ||
      (tcp.per_second >= TCP_RATIO * base && engine_only.per_second >= ENGINE_RATIO * base)) &&
    batched_ratio >= BATCHED_RATIO &&
    steady.p99 <= P99_MS
  console.log(
    `targets: TCP ≥ ${TCP_RATIO} and the engine ≥ ${ENGINE_RATIO} × pgbench, ` +
      `batched ≥ ${BATCHED_RATIO} × unbatched, ` +
      `p99 ≤ ${P99_MS} ms at ${STEADY} per second: ${is_met ? 'met' : 'missed'}`,
  )
  if (!is_met) process.exitCode = 1

  const costs = measureSteps(environment)
  console.log('\nCPU of this process per authorization, µs')
  for (const [name, cost] of Object.entries(costs))
    console.log(`${name.padEnd(36)}${show(cost, 1)}`)
  console.log(`${'engine and database client'.padEnd(36)}${show(engine_only.cpu_us, 1)}`)
  console.log(`${'total, with the codec'.padEnd(36)}${show(with_codec.cpu_us, 1)}`)
}

await (is_check ? check() : measureAll())
client.stop()
await environment.stop()
