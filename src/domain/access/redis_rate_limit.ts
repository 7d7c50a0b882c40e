import type { RateLimiter, RatePolicy, RateVerdict } from './rate_limit.ts'

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

export async function redisRateLimiter(url: string): Promise<RateLimiter> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    lazyConnect: true,
  })
  redis.on('error', () => undefined)
  await redis.connect()
  const decide = async (
    subject: string,
    policies: readonly RatePolicy[],
    cost: 0 | 1,
  ): Promise<RateVerdict> => {
    const numbers = policies.flatMap((policy) => [policy.limit, policy.window_ms])
    const answer = await redis.eval(SCRIPT, 1, `florin:rate:${subject}`, cost, ...numbers)
    const [wait = 0, remaining = 0, reset = 0] = (answer as string[]).map(Number)
    return { allowed: wait === 0, remaining, reset_ms: reset, retry_after_ms: wait }
  }
  return {
    take: (subject, policies) => decide(subject, policies, 1),
    peek: (subject, policies) => decide(subject, policies, 0),
    close: async () => redis.disconnect(),
  }
}
