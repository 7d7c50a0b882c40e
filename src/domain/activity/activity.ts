import type { ActivityEvent } from '#contract/activity.ts'
import type { Scope } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import type { ActivityType } from '#domain/events/event.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'

export type ActivityRow = {
  id: string
  sequence: bigint | null
  type: string
  activity_type: ActivityType
  severity: 'info' | 'warning' | 'error'
  message: string
  card_id: string | null
  amount_micros: Micros | null
  resource_type: string
  resource_id: string
  created_at: Date
}

export function activityView(event: ActivityRow): ActivityEvent {
  return {
    id: event.id,
    type: event.activity_type,
    event: event.type,
    message: event.message,
    severity: event.severity,
    card_id: event.card_id,
    amount_usd: event.amount_micros === null ? null : usdFromMicros(event.amount_micros),
    resource: { type: event.resource_type, id: event.resource_id },
    sequence: event.sequence === null ? null : Number(event.sequence),
    created_at: event.created_at.toISOString(),
  }
}

const TYPES_BY_SCOPE: Readonly<Partial<Record<Scope, ActivityType>>> = {
  'topup:read': 'topup',
  'card:read': 'card',
  'transaction:read': 'spend',
}

/**
 * What of the stream this caller may see: a token the kinds it holds, and its own cards only. What
 * became of a withdrawal stands among spending, and is for those who may read withdrawals.
 */
export function seenBy(caller: Caller): Condition[] {
  const own: Condition[] = [['account_id = ?', caller.account_id], ['activity_type is not null']]
  if (caller.card_ids !== null) own.push(['card_id = any(?)', [...caller.card_ids]])
  if (caller.kind !== 'oauth_client') return own
  const held = Object.entries(TYPES_BY_SCOPE).filter(([scope]) => caller.scopes.has(scope as Scope))
  own.push(['activity_type = any(?)', held.map(([, type]) => type)])
  if (!caller.scopes.has('withdrawal:read')) own.push(["resource_type <> 'withdrawal'"])
  return own
}

export function aboutThese(input: { card_id?: string; event?: string }): Condition[] {
  return [...anyOf('card_id', input.card_id), ...anyOf('type', input.event)]
}

/** A failure keeps the kind of what failed; `error` finds it all the same. */
export function ofKinds(list: string): Condition[] {
  const kinds = list.split(',')
  const others = kinds.filter((kind) => kind !== 'error')
  if (others.length === kinds.length)
    return [['activity_type = any(?)', kinds], ...notSpending(kinds)]
  if (others.length === 0) return [["severity = 'error'"]]
  return [["(severity = 'error' or activity_type = any(?))", others]]
}

/** Said aloud, because the index of all other kinds holds no spending. */
function notSpending(kinds: readonly string[]): Condition[] {
  return kinds.includes('spend') ? [] : [["activity_type <> 'spend'"]]
}
