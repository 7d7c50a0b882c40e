import type { Clock } from './clock.ts'
import { nextTurn } from './next_turn.ts'

/** Runs a computation, which yields wherever the event loop may turn. */
export type ComputeQueue = <Value>(steps: Generator<void, Value>) => Promise<Value>

/**
 * The time that a computation may take before the event loop turns. Shorter slices let the other
 * lane begin with a smaller batch: 4 ms cost 8 % of `npm run bench -- authorizations` with codec.
 */
const TURN_MS = 8

/**
 * Runs long computations one after another, in slices. Interleaved, all of them would finish late
 * and the database would idle until then.
 */
export function computeQueue(clock: Pick<Clock, 'monotonic'>): ComputeQueue {
  let last: Promise<unknown> = Promise.resolve()
  return (steps) => {
    const value = last.then(() => runSlices(steps, clock))
    last = value.catch(() => undefined)
    return value
  }
}

async function runSlices<Value>(
  steps: Generator<void, Value>,
  clock: Pick<Clock, 'monotonic'>,
): Promise<Value> {
  let turn_began_ms = clock.monotonic()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (clock.monotonic() - turn_began_ms < TURN_MS) continue
    await nextTurn()
    turn_began_ms = clock.monotonic()
  }
}
