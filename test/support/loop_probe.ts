import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * How long single turns of this process's event loop take. A turn counts with its processor time
 * where that is less than its time on the clock: on a busy machine a turn is also long when other
 * programs have the processor, and that is not this program's fault.
 */
export async function longestTurnWhile(work: Promise<unknown>): Promise<number> {
  let is_over = false
  const end = work.finally(() => {
    is_over = true
  })
  let longest_ms = 0
  while (!is_over) {
    const began_ms = performance.now()
    const before = process.cpuUsage()
    await nextTurn()
    const { user, system } = process.cpuUsage(before)
    const held_ms = Math.min(performance.now() - began_ms, (user + system) / 1_000)
    longest_ms = Math.max(longest_ms, held_ms)
  }
  await end
  return longest_ms
}
