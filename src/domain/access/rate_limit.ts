import type { RateProfileName } from '#platform/config.ts'

/** A bucket: `limit` calls per `window_ms`, refilled evenly. */
export type RatePolicy = { name: string; limit: number; window_ms: number }

const profile = (burst_per_second: number, sustained_per_minute: number) => [
  { name: 'burst', limit: burst_per_second, window_ms: 1_000 },
  { name: 'sustained', limit: sustained_per_minute, window_ms: 60_000 },
]

/** The specification names two pairs of numbers; both exist, and the operator chooses. */
export const rate_profiles: Readonly<
  Record<Exclude<RateProfileName, 'off'>, readonly RatePolicy[]>
> = {
  default: profile(60, 1_000),
  conservative: profile(100, 600),
}

/** Without a credential: opening accounts and guessing passwords is slow work. */
export const SIGN_UP_POLICIES: readonly RatePolicy[] = [
  { name: 'sustained', limit: 10, window_ms: 60_000 },
]

export type RateVerdict = {
  allowed: boolean
  /** Of the sustained bucket, after this call. */
  remaining: number
  /** Until the sustained bucket is full again. */
  reset_ms: number
  retry_after_ms: number
}

export type RateLimiter = {
  /** Takes one call from every bucket, or from none. */
  take(subject: string, policies: readonly RatePolicy[]): RateVerdict | Promise<RateVerdict>
  /** What take would say, without taking. */
  peek(subject: string, policies: readonly RatePolicy[]): RateVerdict | Promise<RateVerdict>
  close(): Promise<void>
}

/**
 * The generic cell rate algorithm: a bucket is one number, the moment at which it would be full
 * again if nothing more came. Pure, so that the memory and the shared store decide alike.
 */
export function decideRate(
  full_at: readonly number[],
  policies: readonly RatePolicy[],
  { now_ms, cost }: { now_ms: number; cost: 0 | 1 },
): { verdict: RateVerdict; full_at: number[] } {
  const next = policies.map((policy, at) => {
    const step_ms = policy.window_ms / policy.limit
    return Math.max(full_at[at] ?? 0, now_ms) + cost * step_ms
  })
  // A thousandth of a millisecond of tolerance: sums of fractions must not cost a call.
  const waits = policies.map((policy, at) => (next[at] ?? 0) - now_ms - policy.window_ms - 1e-3)
  const retry_after_ms = Math.max(0, ...waits)
  const allowed = retry_after_ms === 0
  const kept = allowed ? next : policies.map((_, at) => full_at[at] ?? 0)
  const last = policies.length - 1
  const policy = policies[last]
  const reset_ms = Math.max(0, (kept[last] ?? 0) - now_ms)
  const step_ms = policy === undefined ? 1 : policy.window_ms / policy.limit
  const room_ms = (policy?.window_ms ?? 0) - reset_ms
  return {
    full_at: kept,
    verdict: { allowed, remaining: Math.floor(room_ms / step_ms + 1e-6), reset_ms, retry_after_ms },
  }
}

const SUBJECTS_MAX = 100_000

/** For one node. Full buckets say nothing, so they are dropped when the table grows. */
export function memoryRateLimiter(now_ms: () => number): RateLimiter {
  const buckets = new Map<string, number[]>()
  const decide = (subject: string, policies: readonly RatePolicy[], cost: 0 | 1) => {
    const now = now_ms()
    const { verdict, full_at } = decideRate(buckets.get(subject) ?? [], policies, {
      now_ms: now,
      cost,
    })
    if (cost === 1) {
      if (buckets.size >= SUBJECTS_MAX) dropFull(buckets, now)
      buckets.set(subject, full_at)
    }
    return verdict
  }
  return {
    take: (subject, policies) => decide(subject, policies, 1),
    peek: (subject, policies) => decide(subject, policies, 0),
    close: async () => undefined,
  }
}

function dropFull(buckets: Map<string, number[]>, now_ms: number): void {
  for (const [subject, full_at] of buckets) {
    if (full_at.every((at) => at <= now_ms)) buckets.delete(subject)
  }
}

/** For FLORIN_RATE_PROFILE=off: everything passes, and the headers still tell the policy. */
export const unlimitedRate: RateLimiter = {
  take: (_subject, policies) => unlimited(policies),
  peek: (_subject, policies) => unlimited(policies),
  close: async () => undefined,
}

function unlimited(policies: readonly RatePolicy[]): RateVerdict {
  return { allowed: true, remaining: policies.at(-1)?.limit ?? 0, reset_ms: 0, retry_after_ms: 0 }
}
