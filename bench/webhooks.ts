import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Dependencies } from '#domain/context/context.ts'
import { startNotifications } from '#main/notifications.ts'
import { runTasks } from '#platform/runtime/tasks.ts'
import { is_check, reportRatio } from './goals_parts/goals.ts'
import { postgresCpuUs, writtenBy } from './mixed_parts/postgres_cost.ts'
import {
  type BenchEnvironment,
  createSubscribedAccount,
  type Receiver,
  startEnvironment,
  startReceiver,
  writeEvents,
} from './webhooks_parts/environment.ts'

/**
 * Deliveries per second from the outbox to the recorded attempt with one worker process, compared
 * with a bare undici loop that posts the same bodies with the same concurrency and no database.
 * Then delivery times at good endpoints, alone and beside 100 that hang.
 */
const EVENTS = is_check ? 4_000 : 12_000
const WARM_UP = is_check ? 3_000 : 6_000
const CONCURRENCY = 32
const RATIO_MIN = 0.4
const P99_MAX_MS = 2_000
const EVENTS_PER_SECOND = 100
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const GOOD_ENDPOINTS = 9

const perSecond = (count: number, started: number) =>
  Math.round(count / ((performance.now() - started) / 1_000))

async function bareLoop(receiver: Receiver, bodies: readonly string[]): Promise<number> {
  const pool = new Pool(receiver.accepting, { connections: CONCURRENCY, pipelining: 1 })
  const headers = { 'content-type': 'application/json', 'service-signature': 'x'.repeat(80) }
  let at = 0
  const started = performance.now()
  const worker = async () => {
    for (let body = bodies[at++]; body !== undefined; body = bodies[at++]) {
      const response = await pool.request({ method: 'POST', path: '/bare', headers, body })
      await response.body.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  const rate = perSecond(bodies.length, started)
  await pool.close()
  return rate
}

async function isDrained({ db }: Dependencies): Promise<boolean> {
  const left = await db.rows(
    '(select 1 from outbox limit 1) union all (select 1 from deliveries limit 1)',
  )
  return left.length === 0
}

/** Runs the worker's tasks during a measurement, which calls `nudge` after its commits. */
async function withWorker<Value>(
  dependencies: Dependencies,
  measure: (nudge: () => void) => Promise<Value>,
): Promise<Value> {
  const notifications = await startNotifications(dependencies)
  const tasks = runTasks(notifications.tasks, dependencies)
  try {
    return await measure(tasks.nudge)
  } finally {
    await tasks.stop()
    await notifications.stop()
  }
}

type Round = {
  florin: number
  bare: number
  /** Per delivery. */
  service_us: number
  postgres_us: number
  wal_bytes: number
  rows: number
}

/** Asks the database only at the end: it would read many deleted rows each time. */
async function drain(dependencies: Dependencies, count: number): Promise<void> {
  const countAttempts = async () => {
    const { values } = await dependencies.metrics.webhook_attempts.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  const all = (await countAttempts()) + count
  while ((await countAttempts()) < all) await wait(10)
  while (!(await isDrained(dependencies))) await wait(10)
}

/** Delivers events that were written before, and compares with the bare loop before and after. */
async function measureRound(
  environment: BenchEnvironment,
  receiver: Receiver,
  bodies: readonly string[],
): Promise<Round> {
  const { db, server_pid } = environment
  const count = bodies.length
  const before = await bareLoop(receiver, bodies)
  await receiver.takeReport()
  const written = await writtenBy(db)
  const postgres_before_us = (await postgresCpuUs(server_pid)) ?? 0
  const cpu = process.cpuUsage()
  const started = performance.now()
  const florin = await withWorker(environment, async () => {
    await drain(environment, count)
    return perSecond(count, started)
  })
  const { user, system } = process.cpuUsage(cpu)
  const postgres_us = ((await postgresCpuUs(server_pid)) ?? 0) - postgres_before_us
  const { wal_bytes, rows } = await writtenBy(db)
  const arrived = (await receiver.takeReport()).count
  if (arrived !== count) throw new Error(`${arrived} of ${count} events arrived`)
  return {
    florin,
    bare: Math.round((before + (await bareLoop(receiver, bodies))) / 2),
    service_us: (user + system) / count,
    postgres_us: postgres_us / count,
    wal_bytes: (wal_bytes - written.wal_bytes) / count,
    rows: (rows - written.rows) / count,
  }
}

async function measureThroughput(
  environment: BenchEnvironment,
  receiver: Receiver,
): Promise<number> {
  const account_id = await createSubscribedAccount(environment, [`${receiver.accepting}/fast`])
  const write = async (count: number): Promise<string[]> => {
    for (let at = 0; at < count; at += 500) await writeEvents(environment, account_id, 500)
    const rows = await environment.db.rows<{ body: string }>(
      `select body from events order by id desc limit ${count}`,
    )
    return rows.map(({ body }) => body)
  }
  const warm_up = await write(WARM_UP)
  await withWorker(environment, () => drain(environment, WARM_UP))
  await bareLoop(receiver, warm_up)
  const rounds: Round[] = []
  while (rounds.length < ROUNDS) {
    const round = await measureRound(environment, receiver, await write(EVENTS))
    rounds.push(round)
    console.log(
      `  deliveries/s: ${round.florin} with Florin, ${round.bare} with a bare loop, ` +
        `concurrency ${CONCURRENCY}; per delivery: ${round.service_us.toFixed(0)} µs of CPU in ` +
        `the service, ${round.postgres_us.toFixed(0)} µs in PostgreSQL, ` +
        `${round.wal_bytes.toFixed(0)} bytes of WAL, ${round.rows.toFixed(1)} rows written`,
    )
  }
  const ratios = rounds.map(({ florin, bare }) => florin / bare).toSorted((a, b) => a - b)
  const ratio = ratios[Math.floor(ratios.length / 2)] ?? 0
  console.log(`  ratio ${ratio.toFixed(2)} (at least ${RATIO_MIN})`)
  return ratio
}

/** Delivery times at nine good endpoints of one account, with other endpoints that hang. */
async function measureAges(
  dependencies: Dependencies,
  receiver: Receiver,
  hanging: readonly string[],
): Promise<number> {
  const good = Array.from({ length: GOOD_ENDPOINTS }, () => `${receiver.accepting}/aged`)
  const account_id = await createSubscribedAccount(dependencies, good)
  // An account may have ten webhooks, so the hanging ones belong to others.
  const others: string[] = []
  for (const url of hanging) others.push(await createSubscribedAccount(dependencies, [url]))
  await receiver.takeReport()
  const total = EVENTS_PER_SECOND * SECONDS
  const ages_ms = await withWorker(dependencies, async (nudge) => {
    const started = performance.now()
    for (let at = 0; at < total; at += 1) {
      const early_ms = started + (at * 1_000) / EVENTS_PER_SECOND - performance.now()
      if (early_ms > 1) await wait(early_ms)
      await writeEvents(dependencies, account_id, 1)
      const other = others[at % (others.length || 1)]
      if (other !== undefined) await writeEvents(dependencies, other, 1)
      nudge()
    }
    await wait(P99_MAX_MS)
    return (await receiver.takeReport()).ages_ms
  })
  const sorted = ages_ms.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const expected = total * good.length
  console.log(
    `  ${good.length} endpoints, ${hanging.length} others hang, ${EVENTS_PER_SECOND} events/s ` +
      `for ${SECONDS} s: ${sorted.length} of ${expected} arrived; ` +
      `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  )
  return sorted.length < expected ? Number.POSITIVE_INFINITY : at(0.99)
}

async function measureHanging(dependencies: Dependencies, receiver: Receiver): Promise<boolean> {
  const alone_ms = await measureAges(dependencies, receiver, [])
  const beside_ms = await measureAges(dependencies, receiver, receiver.hanging)
  console.log(
    `  p99 ${beside_ms} ms beside ${receiver.hanging.length} that hang, ${alone_ms} alone ` +
      `(both below ${P99_MAX_MS})`,
  )
  return Math.max(alone_ms, beside_ms) < P99_MAX_MS
}

const receiver = await startReceiver()
const environment = await startEnvironment()
try {
  const ratio = await measureThroughput(environment, receiver)
  reportRatio('deliveries to a bare loop', ratio)
  if (!is_check) {
    const is_fast = await measureHanging(environment, receiver)
    if (ratio < RATIO_MIN || !is_fast) process.exitCode = 1
  }
} finally {
  await environment.stop()
  receiver.stop()
}
