import type { ActivityEvent } from '#contract/activity.ts'
import type { Scope } from '#contract/scopes.ts'
import { findCardsOfAgents } from '#domain/cards/cards_of_agents.ts'
import type { Caller } from '#domain/context/context.ts'
import type { ActivityType } from '#domain/events/event.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { anyOf, type Condition, isIn } from '#platform/postgres/page.ts'

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
 * Limits the stream to what the caller may see: an OAuth token sees only the types of its scopes,
 * and a caller with a list of cards only those. Withdrawals have the type `spend`, and also need
 * withdrawal:read.
 */
export function whereVisibleTo(caller: Caller): Condition[] {
  const where: Condition[] = [['account_id = ?', caller.account_id], ['activity_type is not null']]
  if (caller.card_ids !== null) where.push(isIn('card_id', caller.card_ids))
  if (caller.kind !== 'oauth_client') return where
  const types = Object.entries(TYPES_BY_SCOPE)
    .filter(([scope]) => caller.scopes.has(scope as Scope))
    .map(([, type]) => type)
  where.push(['activity_type = any(?)', types])
  if (!caller.scopes.has('withdrawal:read')) where.push(["resource_type <> 'withdrawal'"])
  // Approvals of other apps stay hidden; a token reads its own with list_approvals.
  where.push(["resource_type <> 'approval'"])
  return where
}

export function whereMatches(input: { card_id?: string; event?: string }): Condition[] {
  return [...anyOf('card_id', input.card_id), ...anyOf('type', input.event)]
}

/**
 * Events of an agent's calls and of the cards that it issued. Client and card IDs never collide, so
 * one list serves both columns.
 */
export async function whereOfAgents(
  tx: Tx,
  account_id: string,
  agents: string | undefined,
): Promise<Condition[]> {
  if (agents === undefined) return []
  const client_ids = agents.split(',')
  const ids = [...client_ids, ...(await findCardsOfAgents(tx, account_id, client_ids))]
  return [['(client_id = any(?) or card_id = any(?))', ids]]
}

/** `error` is a filter by severity, not a type: a failed top-up has the type `topup`. */
export function whereTypeIn(list: string): Condition[] {
  const types = list.split(',')
  const others = types.filter((type) => type !== 'error')
  if (others.length === types.length)
    return [['activity_type = any(?)', types], ...excludeSpending(types)]
  if (others.length === 0) return [["severity = 'error'"]]
  return [["(severity = 'error' or activity_type = any(?))", others]]
}

/** PostgreSQL uses the partial index that excludes spending only if the query does too. */
function excludeSpending(types: readonly string[]): Condition[] {
  return types.includes('spend') ? [] : [["activity_type <> 'spend'"]]
}
