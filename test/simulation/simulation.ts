import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { checksAtTheEnd } from './checks/at_the_end.ts'
import { checkBooks, sequenceCheck } from './checks/books.ts'
import { checkHoldsExpired } from './checks/stuck.ts'
import { openCardLines } from './clients/card_lines.ts'
import { runExactClient } from './clients/exact_client.ts'
import type { Holder } from './clients/holder.ts'
import type { Life } from './clients/life.ts'
import { openFunded, openHolder } from './clients/open_holder.ts'
import { callOperation, callPath, type Session } from './clients/session.ts'
import { runSharedClient } from './clients/shared_client.ts'
import { openTransport, type Transport } from './clients/transport.ts'
import { chooseWeights } from './clients/weights.ts'
import { expireInModels, SimulationClock } from './clock_control.ts'
import { outside_faults, system_faults } from './faults/all.ts'
import { chooseSkew, type Fault, type FaultContext } from './faults/fault.ts'
import { Gate } from './gate.ts'
import type { Rail } from './model/commands.ts'
import { Monitor } from './monitor.ts'
import { type Random, randomOf } from './random.ts'
import { watchStarvation } from './starvation.ts'
import { openTrace } from './trace.ts'
import { type Receiver, startReceiver } from './world/receivers.ts'
import { startWorld, type World } from './world/world.ts'

export type SimulationOptions = {
  seed: number
  seconds: number
  /** Clients alone on their accounts, and clients that share accounts. */
  exact_clients?: number
  shared_clients?: number
  /** The names of the faults; all of them by default. */
  faults?: readonly string[]
  /** False: clocks stay where they are. */
  has_clock_jumps?: boolean
  /** Kinds of messages and calls that no client uses. */
  without?: readonly string[]
  onProgress?(progress: Progress): void
  /** Ends the clients with the first violation. */
  stops_at_violation?: boolean
  /** Keeps the trace and the logs if there is a violation. */
  keeps_trace?: boolean
}

export type Progress = {
  monitor: Monitor
  seconds: number
  /** What the clients wait for, if they do. */
  waits_for: string | null
}

export type SimulationResult = { monitor: Monitor; trace_path: string; seconds: number }

/** The cards of each shared account. The first two send their events to an endpoint. */
const SHARED_ACCOUNTS = [1, 3, 10, 2, 5, 1, 4, 8]
const USD = 1_000_000n

/** Everything of one run. */
type Run = {
  options: SimulationOptions
  world: World
  transport: Transport
  clock: SimulationClock
  gate: Gate
  lives: Set<Life>
  /** The kill switches that are on. */
  killed: Set<Rail>
  receivers: Receiver[]
  shared: Holder[]
  checkSequences(): Promise<void>
  /** Its bearer moves the clock. */
  timekeeper: Holder
  sessionOf(stream: number): Session
  isOver(): boolean
  /** The check at the end that runs now. */
  check: string | null
}

/** Runs one simulation from its seed and returns what it found. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const began = performance.now()
  const trace_path = join(tmpdir(), `florin_simulation_${options.seed}_${process.pid}.jsonl`)
  const trace = openTrace(trace_path)
  const monitor = new Monitor(trace)
  const random = randomOf(options.seed, 0)
  const world = await startWorld([chooseSkew(random), chooseSkew(random)])
  const transport = openTransport(world, monitor, trace)
  const starvation = watchStarvation(world.pids)
  monitor.isStarved = starvation.isStarved
  for (const [at, node] of world.nodes.entries()) {
    node.onCrash = () => monitor.violate('a node crashed', `node ${at}, see ${world.folder}`)
  }
  try {
    await run(options, transport)
  } catch (cause) {
    monitor.violate('the simulation failed', cause instanceof Error ? (cause.stack ?? '') : '')
  } finally {
    monitor.isOver = true
    starvation.stop()
    await transport.close()
    const isKept = options.keeps_trace === true && monitor.violations.length > 0
    await world.stop(isKept)
    await trace.close()
    if (!isKept) await rm(trace_path, { force: true })
  }
  return { monitor, trace_path, seconds: (performance.now() - began) / 1_000 }
}

async function run(options: SimulationOptions, transport: Transport): Promise<void> {
  const { monitor, world } = transport
  const lines = openCardLines(transport)
  const clock = new SimulationClock()
  const cardholder = await startReceiver()
  let end = Number.POSITIVE_INFINITY
  const violations_max = options.stops_at_violation === true ? 0 : 20
  const sessionOf = (stream: number): Session => ({
    transport,
    lines,
    random: randomOf(options.seed, stream),
    cardholder_url: cardholder.url,
    now: () => clock.now(),
  })
  const setup = sessionOf(1)
  const run: Run = {
    options,
    world,
    transport,
    clock,
    gate: new Gate(),
    lives: new Set(),
    killed: new Set(),
    receivers: [await startReceiver(), await startReceiver()],
    shared: [],
    checkSequences: sequenceCheck(world, monitor),
    timekeeper: await openHolder(setup, 'timekeeper'),
    sessionOf,
    check: null,
    isOver: () =>
      monitor.isOver || performance.now() > end || monitor.violations.length > violations_max,
  }
  run.shared = await Promise.all(
    SHARED_ACCOUNTS.map((cards, at) =>
      openFunded(setup, `shared${at}`, { cards, amount: 40_000n * USD }),
    ),
  )
  await subscribe(run, setup)
  end = performance.now() + options.seconds * 1_000
  const progress = setInterval(() => {
    const seconds = options.seconds - (end - performance.now()) / 1_000
    options.onProgress?.({ monitor, seconds, waits_for: waitsFor(run) })
  }, 1_000)
  try {
    await Promise.all([
      ...startClients(run),
      ...loops.map((loop) => injectFaults(run, loop)),
      moveClock(run),
      useKillSwitches(run),
    ])
    if (monitor.violations.length <= violations_max) await checkEverything(run)
  } finally {
    clearInterval(progress)
    lines.close()
    for (const receiver of [...run.receivers, cardholder]) receiver.close()
  }
}

/** Some of the shared accounts send their events to an endpoint. */
async function subscribe({ shared, receivers }: Run, session: Session): Promise<void> {
  for (const [at, holder] of shared.entries()) {
    const receiver = receivers[at]
    if (receiver === undefined) continue
    const input = { url: receiver.url, events: ['*'] }
    const { body } = await callOperation(session, 'create_webhook', input, holder.key)
    holder.webhook_id = String(body['id'])
    const challenges = { url: `${receiver.url}/challenge`, events: ['three_ds.challenge'] }
    await callOperation(session, 'create_webhook', challenges, holder.key)
  }
}

/** New accounts hash passwords, which would keep all cores busy at the start. */
const START_EVERY_MS = 150

function startClients(run: Run): Promise<void>[] {
  const { options, gate, lives, killed, isOver, shared, sessionOf } = run
  const { exact_clients = 48, shared_clients = 16, without = [] } = options
  const exact = Array.from({ length: exact_clients }, (_, at) => {
    const session = sessionOf(100 + at)
    const weights = chooseWeights(session.random, without)
    const client = { name: `e${at}`, session, weights, gate, lives, killed, isOver }
    return delay(at * START_EVERY_MS).then(() => runExactClient(client))
  })
  const sharing = Array.from({ length: shared_clients }, (_, at) => {
    const session = sessionOf(1_000 + at)
    const weights = chooseWeights(session.random, without)
    return runSharedClient({ session, weights, holders: shared, isOver })
  })
  return [...exact, ...sharing]
}

type FaultLoop = {
  stream: number
  faults: readonly Fault[]
  /** The time between two faults. */
  calm_ms: readonly [number, number]
  /** After how many faults the books are proven; sequences are checked after each. Null: never. */
  books_every: number | null
}

/** Both run at the same time, so a chain may fork while a node dies. */
const loops: readonly FaultLoop[] = [
  { stream: 2, faults: system_faults, calm_ms: [1_000, 14_000], books_every: 12 },
  { stream: 6, faults: outside_faults, calm_ms: [500, 5_000], books_every: null },
]

async function injectFaults(run: Run, loop: FaultLoop): Promise<void> {
  const { options, world, receivers, isOver, transport } = run
  const random = randomOf(options.seed, loop.stream)
  const wanted = loop.faults.filter(({ name }) => options.faults?.includes(name) ?? true)
  if (wanted.length === 0) return
  const weights = Object.fromEntries(wanted.map(({ name, weight }) => [name, weight]))
  await delay(random.between(500, 2_000))
  for (let count = 1; !isOver(); count += 1) {
    const name = random.weighted(weights)
    const fault = wanted.find((one) => one.name === name)
    const context = { world, random, receivers, node: random.below(2) as 0 | 1 }
    if (fault !== undefined && (fault.isPossible?.(context) ?? true)) {
      await runFault(run, fault, context)
      if (loop.books_every !== null) await run.checkSequences()
      const hasBooks = loop.books_every !== null && count % loop.books_every === 0
      if (hasBooks) await checkBooks(world, transport.monitor)
    }
    await delay(random.between(...loop.calm_ms))
  }
}

async function runFault({ transport }: Run, fault: Fault, context: FaultContext): Promise<void> {
  const window = transport.monitor.openWindow(fault.name, fault.components(context))
  try {
    await fault.run(context)
  } finally {
    window.close()
  }
}

const JUMP_EVERY_MS = [15_000, 60_000] as const

/** Moves the clock to a few seconds before a midnight, so that clients live through it. */
async function moveClock(run: Run): Promise<void> {
  const { options, clock, gate, lives, isOver, sessionOf, timekeeper } = run
  if (options.has_clock_jumps === false) return
  const session = sessionOf(3)
  const bearer = timekeeper.key
  while (!isOver()) {
    await waitFor(isOver, session.random.between(...JUMP_EVERY_MS))
    if (isOver()) return
    await untilCalm(run, session.random)
    const jump = clock.chooseJump(session.random.chance(20))
    await gate.exclusively('the clock', async () => {
      await clock.advance(session, bearer, jump - session.random.between(500, 2_500))
      // Exact clients wait: a node is wrong by up to 2.5 s, so the nodes disagree about the day.
      while (clock.isNearMidnight(3_000)) await delay(100)
      // Some hours more: windows of exactly 24 hours would end while nodes disagree about it.
      await clock.advance(session, bearer, session.random.between(10, 360) * 60_000)
      await checkHoldsExpired(run.transport, clock.now())
      expireInModels(lives, clock.now())
    })
  }
}

const SWITCH_EVERY_MS = [10_000, 40_000] as const

/** Operators stop a part of the programme for a while. */
async function useKillSwitches(run: Run): Promise<void> {
  const { gate, isOver, sessionOf } = run
  const session = sessionOf(5)
  const set = (rail: 'issuing' | 'withdrawals', on: boolean) =>
    gate.exclusively('a kill switch', async () => {
      const path = `/operator/v1/kill_switches/${rail}`
      const body = { on, reason: 'simulation' }
      await callPath(session, 'operator_set_kill_switch', { method: 'PUT', path, body })
      if (on) run.killed.add(rail)
      else run.killed.delete(rail)
      for (const { model } of run.lives) model.setKillSwitch(rail, on)
    })
  while (!isOver()) {
    await waitFor(isOver, session.random.between(...SWITCH_EVERY_MS))
    if (isOver()) return
    await untilCalm(run, session.random)
    const rail = session.random.pick(['issuing', 'withdrawals'] as const)
    await set(rail, true)
    await delay(session.random.between(500, 3_000))
    await set(rail, false)
  }
}

/** During a fault clients take long to end their steps, so all would wait for the closed gate. */
async function untilCalm({ transport, isOver }: Run, random: Random): Promise<void> {
  if (random.chance(25)) return
  while (!isOver() && transport.monitor.isDisturbed()) await delay(100)
}

async function waitFor(isOver: () => boolean, ms: number): Promise<void> {
  for (let left = ms; left > 0 && !isOver(); left -= 500) await delay(500)
}

const GATE_MS_MAX = 10_000

function waitsFor({ gate: { closed }, check }: Run): string | null {
  if (check !== null) return `proves that ${check}`
  if (closed === null || performance.now() - closed.since < GATE_MS_MAX) return null
  return `waits for ${closed.by}`
}

async function checkEverything(run: Run): Promise<void> {
  const { transport, receivers, clock, sessionOf, timekeeper } = run
  const session = sessionOf(4)
  const advance = (seconds: number) => clock.advance(session, timekeeper.key, seconds * 1_000)
  for (const [name, check] of checksAtTheEnd(transport, receivers, advance)) {
    run.check = name
    await check()
  }
}
