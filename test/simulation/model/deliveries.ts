import { HOUR_MS } from './amounts.ts'

const MINUTE_MS = 60_000

/** Contract, section 7: ten attempts, the first immediately, the others after these delays. */
const DELAYS_MS = [
  ...[5_000, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
]
const JITTER = 0.2
/** A longer Retry-After is not followed: the attempts must end within days. */
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS

/**
 * The earliest and the latest time of the next attempt after a failed one; null after the tenth.
 * Retry-After is honoured: it lengthens the delay, and never shortens it.
 */
export function nextAttempt(
  now: number,
  { attempts, retry_after_ms }: { attempts: number; retry_after_ms: number | null },
): { from: number; to: number } | null {
  const delay = DELAYS_MS[attempts - 1]
  if (delay === undefined) return null
  const least_ms = Math.min(retry_after_ms ?? 0, RETRY_AFTER_MAX_MS)
  const at = (ms: number) => now + Math.max(Math.round(ms), least_ms)
  return { from: at(delay * (1 - JITTER)), to: at(delay * (1 + JITTER)) }
}
