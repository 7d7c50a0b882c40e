import { nextTurn } from './next_turn.ts'

/** Runs a computation; it yields where others may have a turn of the event loop. */
export type ComputeQueue = <Value>(steps: Generator<void, Value>) => Promise<Value>

/**
 * Runs long computations one after another, in slices. If two of them took turns with each other,
 * both would end late, and the database would have nothing to do meanwhile.
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
