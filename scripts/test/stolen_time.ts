import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/**
 * CPU time that the host gave to other virtual machines while this one had work, in ticks of 10 ms.
 * 0 on a machine of its own.
 */
export function stolenTicks(): number {
  try {
    return Number(readFileSync('/proc/stat', 'utf8').split('\n')[0]?.trim().split(/ +/)[8] ?? 0)
  } catch {
    return 0
  }
}

const TICK_MS = 10
/** A machine that gets less than the rest of its time cannot be held to response times. */
export const STOLEN_MAX = 0.05
/** The host may stay busy; then its next attempt is as good as any. */
const WAIT_MAX_MS = 3 * 60_000
const PAUSE_MS = 5_000

/** Starts to measure; the function that it returns gives the share that was stolen since. */
export function stolenShare(ticks: () => number): () => number {
  const [began_ms, before] = [performance.now(), ticks()]
  return () => {
    const all = ((performance.now() - began_ms) / TICK_MS) * availableParallelism()
    return (ticks() - before) / all
  }
}

/** Time is stolen only from work, so every core gets a second of it. */
const BUSY_SECOND = 'const end = performance.now() + 1000; while (performance.now() < end);'

/** Waits until the host leaves this machine its time, at most three minutes. */
export async function waitForQuietHost(): Promise<void> {
  const end_ms = performance.now() + WAIT_MAX_MS
  while (performance.now() < end_ms) {
    const share = stolenShare(stolenTicks)
    await Promise.all(
      Array.from({ length: availableParallelism() }, () =>
        once(new Worker(BUSY_SECOND, { eval: true }), 'exit'),
      ),
    )
    if (share() < STOLEN_MAX) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
