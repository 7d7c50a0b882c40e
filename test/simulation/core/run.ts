import { StepGenerator } from './generator.ts'
import { Player, Violation } from './player.ts'
import { shrink } from './shrink.ts'
import { outcomeNameOf, type RunSettings, type Step } from './steps.ts'
import { traceOf } from './trace.ts'

/** A run is short, so that a failing one shrinks quickly and its history stays small. */
const RUN_STEPS = 200
const NEXT_SEED = 0x9e3779b1

export type CoreResult = {
  steps: number
  /** How often each command had each response. */
  outcomes: Map<string, number>
}

/** Random runs from a seed until there are enough steps. Throws the shortest failing trace. */
export async function simulateCore(seed: number, step_count: number): Promise<CoreResult> {
  const result: CoreResult = { steps: 0, outcomes: new Map() }
  for (let runs = 0; result.steps < step_count; runs += 1) {
    await runOnce((seed + runs * NEXT_SEED) >>> 0, result)
  }
  return result
}

async function runOnce(seed: number, result: CoreResult): Promise<void> {
  const generator = new StepGenerator(seed)
  const player = new Player(generator.settings)
  const steps: Step[] = []
  let batch: Step[] = []
  const add = async (step: Step): Promise<void> => {
    if (step.batch !== batch[0]?.batch) {
      await player.playBatch(batch)
      batch = []
    }
    steps.push(step)
    batch.push(step)
  }
  try {
    for (const step of generator.opening()) await add(step)
    while (steps.length < RUN_STEPS) await add(generator.next(player.model))
    await player.playBatch(batch)
  } catch (cause) {
    const failing = { seed, settings: generator.settings, steps, before: result.steps }
    throw await shortestTrace(cause, failing)
  }
  result.steps += steps.length
  for (const [at, { command }] of steps.entries()) {
    const name = `${command.op}: ${outcomeNameOf(player.responses[at] ?? '')}`
    result.outcomes.set(name, (result.outcomes.get(name) ?? 0) + 1)
  }
}

type FailingRun = { seed: number; settings: RunSettings; steps: readonly Step[]; before: number }

/** The fewest steps that still fail, with their responses. */
async function shortestTrace(cause: unknown, run: FailingRun): Promise<Error> {
  const { seed, settings, steps, before } = run
  const fails = async (some: readonly Step[]) => (await failureOf(settings, some)) !== null
  const fewest = await shrink(steps, fails)
  const failure = (await failureOf(settings, fewest)) ?? { cause, responses: [] }
  const text = failure.cause instanceof Violation ? failure.cause.message : String(failure.cause)
  return new Error(
    `After ${before + steps.length} steps (run seed ${seed}), ${fewest.length} of them suffice:\n` +
      `${JSON.stringify(settings)}\n${traceOf(fewest, failure.responses)}\n${text}`,
    { cause: failure.cause },
  )
}

async function failureOf(
  settings: RunSettings,
  steps: readonly Step[],
): Promise<{ cause: unknown; responses: readonly string[] } | null> {
  const player = new Player(settings)
  try {
    await player.play(steps)
    return null
  } catch (cause) {
    return { cause, responses: player.responses }
  }
}
