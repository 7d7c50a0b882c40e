import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Metrics } from '#platform/runtime/metrics.ts'
import type { RateLimiter, RatePolicy, RateVerdict } from './rate_limit.ts'

/**
 * The same algorithm as decideRate, run inside Redis so that all nodes share a bucket. It uses the
 * time of Redis, so the clocks of the nodes may differ.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local cost = tonumber(ARGV[1])
local count = (#ARGV - 1) / 2
local kept = {}
local next_full = {}
local wait = 0
for at = 1, count do
  local limit = tonumber(ARGV[at * 2])
  local window = tonumber(ARGV[at * 2 + 1])
  kept[at] = tonumber(redis.call('HGET', KEYS[1], at) or 0)
  next_full[at] = math.max(kept[at], now) + cost * window / limit
  wait = math.max(wait, next_full[at] - now - window - 0.001)
end
if wait == 0 then
  kept = next_full
  if cost > 0 then
    for at = 1, count do redis.call('HSET', KEYS[1], at, string.format('%.6f', kept[at])) end
    redis.call('PEXPIRE', KEYS[1], 120000)
  end
end
local limit = tonumber(ARGV[count * 2])
local window = tonumber(ARGV[count * 2 + 1])
local reset = math.max(0, kept[count] - now)
local remaining = math.floor((window - reset) / (window / limit) + 0.000001)
return { tostring(wait), tostring(remaining), tostring(reset) }
`

/** A slower Redis would delay every call, so the node then counts locally. */
const TIMEOUT_MS = 500
const RETRY_MS = 1_000

const PER_NODE_FAULT = 'Redis is unavailable: rate limits are counted per node.'

type LimiterDependencies = { clock: Clock; log: Log; metrics: Metrics }

/**
 * Counts in Redis, so all nodes share a caller's buckets. While Redis is unavailable, the node
 * counts with its own limiter and pings Redis once a second, so no call fails or waits.
 */
export async function redisRateLimiter(
  url: string,
  local: RateLimiter,
  dependencies: LimiterDependencies,
): Promise<RateLimiter> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    commandTimeout: TIMEOUT_MS,
    enableOfflineQueue: false,
    retryStrategy: () => RETRY_MS,
    lazyConnect: true,
  })
  redis.on('error', () => undefined)
  const { isShared, lose, stop } = watchRedis(() => redis.ping(), dependencies)
  await redis.connect().catch(lose)
  const shared = async (subject: string, policies: readonly RatePolicy[], cost: 0 | 1) => {
    const numbers = policies.flatMap((policy) => [policy.limit, policy.window_ms])
    const reply = await redis.eval(SCRIPT, 1, `florin:rate:${subject}`, cost, ...numbers)
    const [wait = 0, remaining = 0, reset = 0] = (reply as string[]).map(Number)
    return { allowed: wait === 0, remaining, reset_ms: reset, retry_after_ms: wait }
  }
  const decide = async (
    subject: string,
    policies: readonly RatePolicy[],
    cost: 0 | 1,
  ): Promise<RateVerdict> => {
    if (isShared()) {
      try {
        return await shared(subject, policies, cost)
      } catch (cause) {
        lose(cause)
      }
    }
    return cost === 1 ? local.take(subject, policies) : local.peek(subject, policies)
  }
  return {
    take: (subject, policies) => decide(subject, policies, 1),
    peek: (subject, policies) => decide(subject, policies, 0),
    fault: () => (isShared() ? null : PER_NODE_FAULT),
    close: async () => {
      stop()
      redis.disconnect()
    },
  }
}

/** Tracks whether Redis is available, and logs and measures each change. */
function watchRedis(ping: () => Promise<unknown>, { clock, log, metrics }: LimiterDependencies) {
  let isShared = true
  let stopPinging = () => {}
  metrics.rate_limits_shared.set(1)
  const recover = () => {
    if (isShared) return
    isShared = true
    stopPinging()
    metrics.rate_limits_shared.set(1)
    log.info('Redis is available again: rate limits are shared between nodes')
  }
  const lose = (cause: unknown) => {
    if (!isShared) return
    isShared = false
    stopPinging = clock.every(RETRY_MS, () => void ping().then(recover, () => undefined))
    metrics.rate_limits_shared.set(0)
    log.error('Redis is unavailable: rate limits are counted per node', {}, cause)
  }
  return { isShared: () => isShared, lose, stop: () => stopPinging() }
}
