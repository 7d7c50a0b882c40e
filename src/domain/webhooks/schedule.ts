const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** After the first attempt, which is made at once; from the contract, section 7. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** Ten with the first one. */
export const ATTEMPTS_MAX = DELAYS_MS.length + 1

/** Of the delay, either way: what failed together must not come back together. */
const JITTER = 0.2
const JITTER_STEPS = 1_000_000

/** Nobody is waited for longer than this, whatever they ask for. */
const RETRY_AFTER_MAX_MS = 24 * HOUR

type Failure = {
  /** Attempts made so far, this one included. */
  attempts: number
  /** What the answer asked for; null if nothing. */
  retry_after_ms: number | null
  now: Date
  random: { below(limit: number): number }
}

/** Null after the last attempt. An endpoint may ask for more time, not for less. */
export function nextAttemptAt({ attempts, retry_after_ms, now, random }: Failure): Date | null {
  const delay_ms = DELAYS_MS[attempts - 1]
  if (delay_ms === undefined) return null
  const swing = (random.below(JITTER_STEPS + 1) / JITTER_STEPS) * 2 - 1
  const jittered_ms = Math.round(delay_ms * (1 + JITTER * swing))
  const asked_ms = Math.min(retry_after_ms ?? 0, RETRY_AFTER_MAX_MS)
  return new Date(now.getTime() + Math.max(jittered_ms, asked_ms))
}

/** Seconds, or a date by the world's clock. Null for what is neither, and for the past. */
export function retryAfterMs(header: string | undefined, wall: Date): number | null {
  if (header === undefined) return null
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - wall.getTime()
  return Number.isFinite(ms) && ms > 0 ? ms : null
}
