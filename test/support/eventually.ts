import { setTimeout as wait } from 'node:timers/promises'

const STEP_MS = 20

/** Repeats the check until it returns true; returns false if it doesn't within the time. */
export async function eventually(
  check: () => Promise<boolean>,
  { within_ms }: { within_ms: number },
): Promise<boolean> {
  const end = performance.now() + within_ms
  for (;;) {
    if (await check()) return true
    if (performance.now() >= end) return false
    await wait(STEP_MS)
  }
}
