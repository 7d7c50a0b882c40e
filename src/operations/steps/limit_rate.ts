import type { OperationShape } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller, RateStatus } from '#domain/context/context.ts'
import {
  anonymous_policies,
  networkOf,
  type RatePolicy,
  type RateVerdict,
  rate_profiles,
  SIGN_UP_POLICIES,
} from '#domain/risk/rate_limit.ts'
import type { Runtime } from '#operations/runtime.ts'

export type RateSubject = { key: string; policies: readonly RatePolicy[] }

/** Limits by credential, or by IP address if there is none. */
export function rateSubjectOf(
  runtime: Runtime,
  operation: OperationShape | null,
  { caller, ip }: { caller: Caller | null; ip: string },
): RateSubject {
  if (caller === null && operation?.access === 'anyone') {
    return { key: `${operation.name}|${networkOf(ip)}`, policies: SIGN_UP_POLICIES }
  }
  const name = caller?.rate_profile ?? runtime.settings.rate_profile
  const policies = rate_profiles[name === 'off' ? 'default' : name]
  return { key: caller === null ? `ip|${networkOf(ip)}` : credentialKey(caller), policies }
}

export type AnonymousGroup = keyof typeof anonymous_policies

/** Limits a route without credentials by IP address. */
export function anonymousSubject(group: AnonymousGroup, ip: string): RateSubject {
  return { key: `${group}|${networkOf(ip)}`, policies: anonymous_policies[group] }
}

/** An OAuth client may act for many accounts; each has its own limit. */
function credentialKey({ kind, id, account_id }: Caller): string {
  return kind === 'oauth_client' ? `${id}|${account_id}` : id
}

export function limitRate(
  runtime: Runtime,
  subject: RateSubject,
): RateVerdict | Promise<RateVerdict> {
  const verdict = runtime.limiter.take(subject.key, subject.policies)
  return verdict instanceof Promise ? verdict.then(requireAllowed) : requireAllowed(verdict)
}

function requireAllowed(verdict: RateVerdict): RateVerdict {
  if (verdict.allowed) return verdict
  throw new Problem(
    'rate_limited',
    'Too many requests. Wait the number of seconds in Retry-After.',
    {
      retry_after_s: Math.max(1, Math.ceil(verdict.retry_after_ms / 1_000)),
    },
  )
}

export function rateStatus({ policies }: RateSubject, verdict: RateVerdict): RateStatus {
  return {
    burst_per_second: limitOf(policies, 'burst'),
    sustained_per_minute: limitOf(policies, 'sustained'),
    remaining: verdict.remaining,
    reset_ms: verdict.reset_ms,
  }
}

function limitOf(policies: readonly RatePolicy[], name: string): number {
  for (const policy of policies) if (policy.name === name) return policy.limit
  return 0
}

const policy_headers = new WeakMap<readonly RatePolicy[], string>()

export function rateHeaders(
  { policies }: RateSubject,
  verdict: RateVerdict,
): Record<string, string> {
  let policy = policy_headers.get(policies)
  if (policy === undefined) {
    policy = policies
      .map(({ name, limit, window_ms }) => `"${name}";q=${limit};w=${window_ms / 1_000}`)
      .join(', ')
    policy_headers.set(policies, policy)
  }
  const reset_s = Math.ceil(verdict.reset_ms / 1_000)
  return {
    'RateLimit-Policy': policy,
    RateLimit: `"sustained";r=${verdict.remaining};t=${reset_s}`,
  }
}
