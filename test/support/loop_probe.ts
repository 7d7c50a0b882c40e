import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * The longest turn of this process's event loop. On a busy machine a turn also takes long while
 * other programs use the processor, so a turn counts with the lesser of its wall time and CPU time.
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
