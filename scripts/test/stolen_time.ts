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
const WINDOW_MS = 2_000
/** A machine that is left with less cannot be held to response times. */
const STOLEN_MAX = 0.05
const STOLEN_MAX_OF_WINDOW = 0.2
/** The host may stay busy; then its next attempt is as good as any. */
const WAIT_MAX_MS = 3 * 60_000
const PAUSE_MS = 5_000

/** The stolen share of a time, and of the two seconds in it that lost most. */
export type Stolen = { whole: number; worst: number }

/** Starts to measure. The returned function stops and returns the result. */
export function watchStolen(ticks: () => number): () => Stolen {
  const read = () => ({ at_ms: performance.now(), ticks: ticks() })
  const first = read()
  let last = first
  let worst = 0
  const timer = setInterval(() => {
    const now = read()
    worst = Math.max(worst, shareBetween(last, now))
    last = now
  }, WINDOW_MS)
  return () => {
    clearInterval(timer)
    const whole = shareBetween(first, read())
    return { whole, worst: Math.max(worst, whole) }
  }
}

type Reading = { at_ms: number; ticks: number }

const shareBetween = (one: Reading, two: Reading): number =>
  (two.ticks - one.ticks) / (((two.at_ms - one.at_ms) / TICK_MS) * availableParallelism())

export const isTooMuch = ({ whole, worst }: Stolen): boolean =>
  whole >= STOLEN_MAX || worst >= STOLEN_MAX_OF_WINDOW

/** Time is stolen only from work, so every core gets a second of it. */
const BUSY_SECOND = 'const end = performance.now() + 1000; while (performance.now() < end);'

/** Waits until the host leaves this machine its time, at most three minutes. */
export async function waitForQuietHost(): Promise<void> {
  const end_ms = performance.now() + WAIT_MAX_MS
  while (performance.now() < end_ms) {
    const stolen = watchStolen(stolenTicks)
    await Promise.all(
      Array.from({ length: availableParallelism() }, () =>
        once(new Worker(BUSY_SECOND, { eval: true }), 'exit'),
      ),
    )
    if (!isTooMuch(stolen())) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
