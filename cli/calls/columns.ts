import type { OperationName } from '#contract/operations.ts'
import { scalarFieldNames } from './flags.ts'

const purchase = ['amount_usd', 'merchant_name', 'status', 'type', 'created_at', 'id']
const activity = ['amount_usd', 'event', 'created_at', 'message']

/**
 * The columns of each list's table: amount, name and status first, the ID last. --json and --csv
 * print every field.
 */
export const columns: Readonly<Partial<Record<OperationName, readonly string[]>>> = {
  list_api_keys: ['name', 'status', 'prefix', 'last_used_at', 'created_at', 'id'],
  list_sessions: ['user_agent', 'ip', 'last_used_at', 'current', 'expires_at', 'id'],
  get_balance_history: ['amount_usd', 'balance_usd', 'type', 'created_at', 'description'],
  list_statements: ['period', 'opening_usd', 'closing_usd', 'spent_usd', 'is_final'],
  list_topups: ['amount_usd', 'status', 'credited_usd', 'chain', 'created_at', 'id'],
  list_cards: ['balance_usd', 'name', 'status', 'last4', 'brand', 'type', 'held_usd', 'id'],
  list_transactions: purchase,
  list_card_transactions: purchase,
  get_activity: activity,
  filter_activity: activity,
  get_audit_log: ['action', 'result', 'created_at', 'actor.type', 'actor.name', 'ip'],
  list_withdrawals: ['amount_usd', 'status', 'net_usd', 'created_at', 'address', 'id'],
  list_disputes: ['amount_usd', 'status', 'outcome', 'reason', 'evidence_due_at', 'id'],
  list_webhooks: ['url', 'status', 'events', 'last_delivery_at', 'id'],
  list_approvals: ['amount_usd', 'summary', 'status', 'expires_at', 'id'],
  list_tickets: ['subject', 'status', 'category', 'updated_at', 'id'],
}

const COLUMNS_MAX = 6

/** Columns of a list that has none above: amounts, then other fields, times and the ID last. */
export function defaultColumns(output: Parameters<typeof scalarFieldNames>[0]): string[] {
  const names = scalarFieldNames(output, 'data')
  const chosen = names.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, COLUMNS_MAX)
  const id = names.includes('id') && !chosen.includes('id') ? ['id'] : []
  return [...chosen, ...id].toSorted((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(name: string): number {
  if (name === 'id') return 4
  if (name.endsWith('_usd')) return 0
  return name.endsWith('_at') ? 3 : name.endsWith('_id') ? 2 : 1
}
