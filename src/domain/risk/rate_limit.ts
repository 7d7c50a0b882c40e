import { isIPv6 } from 'node:net'
import type { RateProfileName } from '#settings/rate_settings.ts'

/** A bucket: `limit` calls per `window_ms`, refilled evenly. */
export type RatePolicy = { name: string; limit: number; window_ms: number }

const profile = (burst_per_second: number, sustained_per_minute: number) => [
  { name: 'burst', limit: burst_per_second, window_ms: 1_000 },
  { name: 'sustained', limit: sustained_per_minute, window_ms: 60_000 },
]

/** The specification has two pairs of limits; the operator chooses one. */
export const rate_profiles: Readonly<
  Record<Exclude<RateProfileName, 'off'>, readonly RatePolicy[]>
> = {
  default: profile(60, 1_000),
  conservative: profile(100, 600),
}

/** For calls without a credential. Low, because anyone can open accounts and guess passwords. */
export const SIGN_UP_POLICIES: readonly RatePolicy[] = [
  { name: 'sustained', limit: 10, window_ms: 60_000 },
]

const perMinute = (sustained: number, burst: number): readonly RatePolicy[] => [
  { name: 'burst', limit: burst, window_ms: 1_000 },
  { name: 'sustained', limit: sustained, window_ms: 60_000 },
]

/**
 * Limits per IP of routes without a bearer. Each started authorization is stored, so its limit is
 * the lowest. The site's is high, because a whole office may load the panel from one IP.
 */
export const anonymous_policies = {
  authorize: perMinute(30, 10),
  consent: perMinute(120, 20),
  token: perMinute(300, 30),
  three_ds: perMinute(120, 20),
  site: perMinute(6_000, 300),
} as const satisfies Record<string, readonly RatePolicy[]>

/**
 * The IPv4 address or IPv6 /64 of a caller, because an IPv6 host can use any address of its /64.
 * Behind a proxy the header may contain any text, so its length is bounded.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip.slice(0, 45)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!isIPv6(ip)) return ip.slice(0, 45)
  const [head = '', tail] = ip.toLowerCase().split('%', 1)[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0')
  const first = [...groups, ...zeros, ...after].slice(0, 4)
  return `${first.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}

export type RateVerdict = {
  allowed: boolean
  /** Calls left in the sustained bucket, after this one. */
  remaining: number
  /** Time until the sustained bucket is full again. */
  reset_ms: number
  retry_after_ms: number
}

export type RateLimiter = {
  /** Takes one call from every bucket, or from none. */
  take(subject: string, policies: readonly RatePolicy[]): RateVerdict | Promise<RateVerdict>
  /** The verdict of take, without taking. */
  peek(subject: string, policies: readonly RatePolicy[]): RateVerdict | Promise<RateVerdict>
  /** The reason why nodes don't share their limits; null if they do. */
  fault(): string | null
  close(): Promise<void>
}

/**
 * The generic cell rate algorithm (GCRA): a bucket is one number, the time when it would be full
 * again without further calls. The Lua script in redis_rate_limit.ts computes the same.
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
  // Tolerates 1 µs, because rounding errors must not cost a call.
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
/** More than one, so the table shrinks while its buckets are full. */
const INSPECTED_BUCKETS = 4

/** For one node. A full bucket equals a missing one, so it is dropped when the table is full. */
export function memoryRateLimiter(now_ms: () => number, subjects_max = SUBJECTS_MAX): RateLimiter {
  const buckets = new Map<string, number[]>()
  const decide = (subject: string, policies: readonly RatePolicy[], cost: 0 | 1) => {
    const now = now_ms()
    const { verdict, full_at } = decideRate(buckets.get(subject) ?? [], policies, {
      now_ms: now,
      cost,
    })
    if (cost === 1) {
      if (buckets.size >= subjects_max && !buckets.has(subject)) makeRoom(buckets, now)
      buckets.set(subject, full_at)
    }
    return verdict
  }
  return {
    take: (subject, policies) => decide(subject, policies, 1),
    peek: (subject, policies) => decide(subject, policies, 0),
    fault: () => null,
    close: async () => undefined,
  }
}

/**
 * Inspects only the few oldest entries, so a flood of IPs does not scan the whole table. Full
 * buckets are dropped and the others move to the end; if none is full, the oldest is dropped.
 */
function makeRoom(buckets: Map<string, number[]>, now_ms: number): void {
  const oldest: [string, number[]][] = []
  for (const entry of buckets) {
    oldest.push(entry)
    if (oldest.length === INSPECTED_BUCKETS) break
  }
  let dropped = 0
  for (const [subject, full_at] of oldest) {
    buckets.delete(subject)
    if (full_at.every((at) => at <= now_ms)) dropped += 1
    else buckets.set(subject, full_at)
  }
  if (dropped === 0 && oldest[0] !== undefined) buckets.delete(oldest[0][0])
}

/** For FLORIN_RATE_PROFILE=off: allows every call, and the headers still show the policy. */
export const unlimitedRate: RateLimiter = {
  take: (_subject, policies) => unlimited(policies),
  peek: (_subject, policies) => unlimited(policies),
  fault: () => null,
  close: async () => undefined,
}

function unlimited(policies: readonly RatePolicy[]): RateVerdict {
  return { allowed: true, remaining: policies.at(-1)?.limit ?? 0, reset_ms: 0, retry_after_ms: 0 }
}
