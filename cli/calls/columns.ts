import type { OperationName } from '#contract/operations.ts'

const purchase = ['created_at', 'type', 'status', 'amount_usd', 'merchant_name', 'mcc', 'id']
const activity = ['created_at', 'event', 'amount_usd', 'message']

/** The columns of each list's table. --json prints every field. */
export const columns: Readonly<Partial<Record<OperationName, readonly string[]>>> = {
  list_api_keys: ['id', 'name', 'prefix', 'status', 'last_used_at', 'created_at'],
  get_balance_history: ['created_at', 'type', 'amount_usd', 'balance_usd', 'description'],
  list_topups: ['id', 'status', 'amount_usd', 'credited_usd', 'chain', 'created_at'],
  list_cards: ['id', 'status', 'type', 'brand', 'last4', 'balance_usd', 'held_usd', 'name'],
  list_transactions: purchase,
  list_card_transactions: purchase,
  get_activity: activity,
  filter_activity: activity,
  get_audit_log: ['created_at', 'action', 'actor.type', 'actor.name', 'result', 'ip'],
  list_withdrawals: ['id', 'status', 'amount_usd', 'net_usd', 'address', 'created_at'],
  list_disputes: ['id', 'status', 'outcome', 'amount_usd', 'reason', 'evidence_due_at'],
  list_webhooks: ['id', 'status', 'url', 'events', 'last_delivery_at'],
  list_tickets: ['id', 'status', 'category', 'subject', 'updated_at'],
}
