import { call_weights } from './clients/choose_call.ts'
import { message_weights } from './clients/choose_message.ts'
import { all_faults } from './faults/all.ts'
import { type SimulationOptions, simulate } from './simulation.ts'

type Shrunk = Required<
  Pick<
    SimulationOptions,
    'seed' | 'seconds' | 'exact_clients' | 'shared_clients' | 'faults' | 'without'
  >
> & { has_clock_jumps: boolean }

/** A run that takes place by chance gets this many attempts. */
const ATTEMPTS = 2

/**
 * Runs a seed again and again with less: fewer clients, no jumps of the clock, fewer faults, fewer
 * kinds of operations. It keeps whatever still shows the same violation. Real processes are not
 * deterministic, so a step that does not show it is tried twice before it is given up.
 */
export async function shrink(seed: number, seconds: number): Promise<Shrunk | null> {
  const start: Shrunk = {
    ...{ seed, seconds, exact_clients: 48, shared_clients: 16, has_clock_jumps: true },
    ...{ faults: all_faults.map(({ name }) => name), without: [] },
  }
  const wanted = await violationOf(start)
  if (wanted === null) return null
  console.log(`looking for the smallest run that shows: ${wanted}`)
  let best = start
  for (const smaller of steps()) {
    const next = smaller(best)
    if (next === null || !(await shows(next, wanted))) continue
    best = next
    console.log(`still shows it: ${JSON.stringify(best)}`)
  }
  return best
}

type Step = (from: Shrunk) => Shrunk | null

function* steps(): Generator<Step> {
  yield (from) => ({ ...from, shared_clients: 0 })
  yield (from) => (from.shared_clients === 0 ? null : { ...from, exact_clients: 0 })
  for (const clients of [8, 3, 1]) {
    yield (from) => (from.exact_clients <= clients ? null : { ...from, exact_clients: clients })
  }
  yield (from) => ({ ...from, has_clock_jumps: false })
  yield (from) => ({ ...from, faults: [] })
  for (const { name } of all_faults) {
    yield (from) =>
      from.faults.includes(name)
        ? { ...from, faults: from.faults.filter((one) => one !== name) }
        : null
  }
  for (const kind of [...Object.keys(message_weights), ...Object.keys(call_weights)]) {
    yield (from) => ({ ...from, without: [...from.without, kind] })
  }
  yield (from) => ({ ...from, seconds: Math.ceil(from.seconds / 2) })
}

async function shows(options: Shrunk, wanted: string): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if ((await violationOf(options)) === wanted) return true
  }
  return false
}

/** The first violation's kind; the trace of the last run that had one is kept. */
async function violationOf(options: Shrunk): Promise<string | null> {
  const { monitor, trace_path } = await simulate({
    ...options,
    keeps_trace: true,
    stops_at_violation: true,
  })
  const [first] = monitor.violations
  if (first === undefined) return null
  console.log(`  ${first.what}; trace ${trace_path}`)
  return first.what
}
