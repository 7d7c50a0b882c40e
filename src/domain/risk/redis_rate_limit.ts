import type { Dependencies } from '#domain/context/context.ts'
import {
  memoryRateLimiter,
  type RateLimiter,
  type RatePolicy,
  type RateVerdict,
} from './rate_limit.ts'

/**
 * The same algorithm as decideRate, run inside Redis so that all nodes share one bucket. Time is
 * Redis's own: nodes need not agree on theirs.
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

/** A Redis that takes longer holds up every call: this node counts by itself meanwhile. */
const ANSWER_MS = 500
const RETRY_MS = 1_000

export const PER_NODE_FAULT = 'Redis does not answer: rate limits are counted per node.'

type Parts = Pick<Dependencies, 'clock' | 'log' | 'metrics'>

/**
 * Counts in Redis, so that all nodes share a caller's buckets. While Redis is away this node counts
 * by itself, and asks once a second whether Redis is back: no call fails or waits for want of it.
 */
export async function redisRateLimiter(url: string, parts: Parts): Promise<RateLimiter> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    commandTimeout: ANSWER_MS,
    enableOfflineQueue: false,
    retryStrategy: () => RETRY_MS,
    lazyConnect: true,
  })
  redis.on('error', () => undefined)
  const { isShared, lose, stop } = followRedis(() => redis.ping(), parts)
  await redis.connect().catch(lose)
  const local = memoryRateLimiter(parts.clock.monotonic)
  const shared = async (subject: string, policies: readonly RatePolicy[], cost: 0 | 1) => {
    const numbers = policies.flatMap((policy) => [policy.limit, policy.window_ms])
    const answer = await redis.eval(SCRIPT, 1, `florin:rate:${subject}`, cost, ...numbers)
    const [wait = 0, remaining = 0, reset = 0] = (answer as string[]).map(Number)
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

/** Whether Redis can be counted on, told to the log and the metrics whenever it changes. */
function followRedis(ping: () => Promise<unknown>, { clock, log, metrics }: Parts) {
  let isShared = true
  let stopAsking = () => {}
  metrics.rate_limits_shared.set(1)
  const recover = () => {
    if (isShared) return
    isShared = true
    stopAsking()
    metrics.rate_limits_shared.set(1)
    log.info('Redis answers again: rate limits are shared between nodes')
  }
  const lose = (cause: unknown) => {
    if (!isShared) return
    isShared = false
    stopAsking = clock.every(RETRY_MS, () => void ping().then(recover, () => undefined))
    metrics.rate_limits_shared.set(0)
    log.error('Redis does not answer: rate limits are counted per node', {}, cause)
  }
  return { isShared: () => isShared, lose, stop: () => stopAsking() }
}
