import type { Operation } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller, RateStatus } from '#domain/context/context.ts'
import type { Operator } from '#domain/operators/operator.ts'
import {
  anonymous_policies,
  networkOf,
  type RatePolicy,
  type RateVerdict,
  rate_profiles,
  SIGN_UP_POLICIES,
} from '#domain/risk/rate_limit.ts'
import type { CountedRate, Invocation, RateSubject } from '#operations/invocation.ts'
import type { Runtime } from '#operations/runtime.ts'

type RatedCall = {
  ip: string
  operation?: Operation
  caller?: Caller | null
  operator?: Operator | null
  bearer?: string | null
}

/** Counts a call by the token of its second factor, by its credential, or else by network. */
export function rateSubjectOf(
  { keys, settings }: Runtime,
  { ip, operation, caller = null, operator = null, bearer = '' }: RatedCall,
): RateSubject {
  if (operation?.rated_by === 'bearer') {
    const key = `${operation.name}|${keys.fingerprint('operator', bearer ?? '')}`
    return { key, policies: SECOND_FACTOR_POLICIES }
  }
  if (caller === null && operation?.access === 'anyone') {
    return { key: `${operation.name}|${networkOf(ip)}`, policies: SIGN_UP_POLICIES }
  }
  if (operator !== null) return { key: `operator|${operator.id}`, policies: rate_profiles.default }
  const name = caller?.rate_profile ?? settings.rate_profile
  const policies = rate_profiles[name === 'off' ? 'default' : name]
  return { key: caller === null ? `ip|${networkOf(ip)}` : credentialKey(caller), policies }
}

/** A code has a million values; a stolen token allows 960 guesses a day. */
const SECOND_FACTOR_POLICIES: readonly RatePolicy[] = [
  { name: 'sustained', limit: 10, window_ms: 15 * 60_000 },
]

export type AnonymousGroup = keyof typeof anonymous_policies

/** Limits a route without credentials by network. */
export function anonymousSubject(group: AnonymousGroup, ip: string): RateSubject {
  return { key: `${group}|${networkOf(ip)}`, policies: anonymous_policies[group] }
}

/** An OAuth client may act for many accounts; each has its own limit. */
function credentialKey({ kind, id, account_id }: Caller): string {
  return kind === 'oauth_client' ? `${id}|${account_id}` : id
}

/** Counts the call, unless it is a part of one that was counted. */
export async function limitCallRate(invocation: Invocation): Promise<void> {
  if (invocation.call.is_part === true) {
    invocation.rate = await peekRate(invocation)
    return
  }
  const subject = subjectOf(invocation)
  invocation.rate = { subject, verdict: await limitRate(invocation.runtime, subject) }
}

const subjectOf = ({ runtime, operation, caller, operator, request, call }: Invocation) =>
  rateSubjectOf(runtime, { ip: request.ip, operation, caller, operator, bearer: call.bearer })

/** The state of the limits without counting the call, for its headers. */
export async function peekRate(invocation: Invocation): Promise<CountedRate> {
  const subject = subjectOf(invocation)
  const verdict = await invocation.runtime.limiter.peek(subject.key, subject.policies)
  return { subject, verdict }
}

export async function limitRate(runtime: Runtime, subject: RateSubject): Promise<RateVerdict> {
  const verdict = await runtime.limiter.take(subject.key, subject.policies)
  requireAllowed(verdict)
  return verdict
}

export function requireAllowed(verdict: RateVerdict): void {
  if (verdict.allowed) return
  throw new Problem(
    'rate_limited',
    'Too many requests. Wait the number of seconds in Retry-After.',
    {
      retry_after_s: Math.max(1, Math.ceil(verdict.retry_after_ms / 1_000)),
    },
  )
}

export function rateStatus({ subject: { policies }, verdict }: CountedRate): RateStatus {
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

export function rateHeaders(
  { policies }: RateSubject,
  verdict: RateVerdict,
): Record<string, string> {
  const policy = policies.map(
    ({ name, limit, window_ms }) => `"${name}";q=${limit};w=${window_ms / 1_000}`,
  )
  const reset_s = Math.ceil(verdict.reset_ms / 1_000)
  return {
    'RateLimit-Policy': policy.join(', '),
    RateLimit: `"sustained";r=${verdict.remaining};t=${reset_s}`,
  }
}
