const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays after failed attempts; the first attempt is immediate. From the contract, section 7. */
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

/** Share of the delay that is added or subtracted, so deliveries are not all retried together. */
const JITTER = 0.2
const JITTER_STEPS = 1_000_000

/** A longer Retry-After is capped at this. */
const RETRY_AFTER_MAX_MS = 24 * HOUR

type FailedAttempt = {
  /** Attempts made so far, this one included. */
  attempts: number
  /** The Retry-After of the response, if it had one. */
  retry_after_ms: number | null
  now: Date
  random: { below(limit: number): number }
}

/** Null if that was the last attempt. Retry-After can lengthen the delay but not shorten it. */
export function nextAttemptAt({
  attempts,
  retry_after_ms,
  now,
  random,
}: FailedAttempt): Date | null {
  const delay_ms = DELAYS_MS[attempts - 1]
  if (delay_ms === undefined) return null
  const swing = (random.below(JITTER_STEPS + 1) / JITTER_STEPS) * 2 - 1
  const jittered_ms = Math.round(delay_ms * (1 + JITTER * swing))
  const requested_ms = Math.min(retry_after_ms ?? 0, RETRY_AFTER_MAX_MS)
  return new Date(now.getTime() + Math.max(jittered_ms, requested_ms))
}

/** Parses seconds or an HTTP date, which is relative to the wall clock. Null if invalid or past. */
export function retryAfterMs(header: string | undefined, wall: Date): number | null {
  if (header === undefined) return null
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - wall.getTime()
  return Number.isFinite(ms) && ms > 0 ? ms : null
}
