import { nextTurn } from './next_turn.ts'

/** Runs a computation, which yields to let the event loop turn. */
export type ComputeQueue = <Value>(steps: Generator<void, Value>) => Promise<Value>

/**
 * Runs long computations one after another, in slices. Interleaved, all of them would finish late
 * and the database would idle until then.
 */
export function computeQueue(): ComputeQueue {
  let last: Promise<unknown> = Promise.resolve()
  return (steps) => {
    const value = last.then(() => runSlices(steps))
    last = value.catch(() => undefined)
    return value
  }
}

async function runSlices<Value>(steps: Generator<void, Value>): Promise<Value> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await nextTurn()
  }
}
