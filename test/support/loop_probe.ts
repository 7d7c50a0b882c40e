import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The main thread's file: its first number is the time on a processor in nanoseconds. */
const schedstat = `/proc/${process.pid}/task/${process.pid}/schedstat`

/**
 * Processor time of the thread that runs the event loop. Other programs on a busy machine and
 * V8's helper threads don't count, because neither is a fault of the code in the turn.
 */
export const usedThreadMs = (): number =>
  Number(readFileSync(schedstat, 'utf8').split(' ', 1)[0]) / 1_000_000

/** The processor time of the longest turn of this process's event loop. */
export async function longestTurnWhile(work: Promise<unknown>): Promise<number> {
  let is_over = false
  const end = work.finally(() => {
    is_over = true
  })
  let longest_ms = 0
  while (!is_over) {
    const before_ms = usedThreadMs()
    await nextTurn()
    longest_ms = Math.max(longest_ms, usedThreadMs() - before_ms)
  }
  await end
  return longest_ms
}
