import type { ActivityEvent, AuditEntry } from '#contract/activity.ts'
import type { Approval } from '#contract/approvals.ts'
import type { Card } from '#contract/cards.ts'
import type { Dispute } from '#contract/disputes.ts'
import type { Ticket } from '#contract/support.ts'
import type { Topup } from '#contract/topups.ts'
import type { Withdrawal } from '#contract/withdrawals.ts'
import type { CsvColumn } from '#panel/ui/export_csv.tsx'

/** The columns of the exported lists, with the names of the API. */

export const card_csv_columns: readonly CsvColumn<Card>[] = [
  ['created_at', (row) => row.created_at],
  ['name', (row) => row.name],
  ['brand', (row) => row.brand],
  ['last4', (row) => row.last4],
  ['type', (row) => row.type],
  ['usage', (row) => row.usage],
  ['status', (row) => row.status],
  ['exp_month', (row) => row.exp_month],
  ['exp_year', (row) => row.exp_year],
  ['balance_usd', (row) => row.balance_usd],
  ['daily_limit_usd', (row) => row.limits.daily_usd],
  ['daily_spent_usd', (row) => row.limits.spent.daily_usd],
  ['monthly_limit_usd', (row) => row.limits.monthly_usd],
  ['monthly_spent_usd', (row) => row.limits.spent.monthly_usd],
  ['id', (row) => row.id],
]

export const topup_csv_columns: readonly CsvColumn<Topup>[] = [
  ['created_at', (row) => row.created_at],
  ['status', (row) => row.status],
  ['amount_usd', (row) => row.amount_usd],
  ['received_usd', (row) => row.received_usd],
  ['credited_usd', (row) => row.credited_usd],
  ['asset', (row) => row.asset],
  ['chain', (row) => row.chain],
  ['deposit_address', (row) => row.deposit_address],
  ['id', (row) => row.id],
]

export const withdrawal_csv_columns: readonly CsvColumn<Withdrawal>[] = [
  ['created_at', (row) => row.created_at],
  ['status', (row) => row.status],
  ['amount_usd', (row) => row.amount_usd],
  ['fee_usd', (row) => row.fee_usd],
  ['net_usd', (row) => row.net_usd],
  ['asset', (row) => row.asset],
  ['chain', (row) => row.chain],
  ['address', (row) => row.address],
  ['txid', (row) => row.txid],
  ['id', (row) => row.id],
]

export const dispute_csv_columns: readonly CsvColumn<Dispute>[] = [
  ['created_at', (row) => row.created_at],
  ['status', (row) => row.status],
  ['outcome', (row) => row.outcome],
  ['reason', (row) => row.reason],
  ['amount_usd', (row) => row.amount_usd],
  ['provisional_credit_usd', (row) => row.provisional_credit_usd],
  ['evidence_due_at', (row) => row.evidence_due_at],
  ['transaction_id', (row) => row.transaction_id],
  ['card_id', (row) => row.card_id],
  ['id', (row) => row.id],
]

export const activity_csv_columns: readonly CsvColumn<ActivityEvent>[] = [
  ['created_at', (row) => row.created_at],
  ['event', (row) => row.event],
  ['severity', (row) => row.severity],
  ['message', (row) => row.message],
  ['amount_usd', (row) => row.amount_usd],
  ['card_id', (row) => row.card_id],
  ['resource_type', (row) => row.resource.type],
  ['resource_id', (row) => row.resource.id],
  ['id', (row) => row.id],
]

export const ticket_csv_columns: readonly CsvColumn<Ticket>[] = [
  ['created_at', (row) => row.created_at],
  ['updated_at', (row) => row.updated_at],
  ['status', (row) => row.status],
  ['category', (row) => row.category],
  ['subject', (row) => row.subject],
  ['messages', (row) => row.messages.length],
  ['id', (row) => row.id],
]

export const approval_csv_columns: readonly CsvColumn<Approval>[] = [
  ['created_at', (row) => row.created_at],
  ['status', (row) => row.status],
  ['summary', (row) => row.summary],
  ['amount_usd', (row) => row.amount_usd],
  ['operation', (row) => row.operation],
  ['id', (row) => row.id],
]

export const audit_csv_columns: readonly CsvColumn<AuditEntry>[] = [
  ['created_at', (row) => row.created_at],
  ['action', (row) => row.action],
  ['result', (row) => row.result],
  ['actor_type', (row) => row.actor.type],
  ['actor_name', (row) => row.actor.name],
  ['actor_id', (row) => row.actor.id],
  ['resource_type', (row) => row.resource?.type ?? null],
  ['resource_id', (row) => row.resource?.id ?? null],
  ['ip', (row) => row.ip],
  ['hash', (row) => row.hash],
  ['id', (row) => row.id],
]
