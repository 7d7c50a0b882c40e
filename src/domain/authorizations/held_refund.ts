import type { Static } from 'typebox'
import type { HeldRefund as HeldRefundShape } from '#contract/operator/shapes.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { amountFromMinor } from '#iso8583/currencies.ts'
import { usdFromMicros } from '#kernel/money.ts'
import { decideRefund, lockWaiting, type PendingClearingRow } from './pending_clearing_store.ts'

/** A refund above the amount of its purchase, held for approval. */
type HeldRefund = Static<typeof HeldRefundShape>

const statusOf = ({ approved_at, refused_at }: PendingClearingRow): HeldRefund['status'] => {
  if (refused_at !== null) return 'refused'
  return approved_at === null ? 'waiting' : 'approved'
}

export const heldRefundView = (row: PendingClearingRow): HeldRefund => ({
  id: row.id,
  account_id: row.account_id,
  card_id: row.card_id,
  status: statusOf(row),
  amount: amountFromMinor(row.amount_minor, row.currency),
  currency: row.currency,
  amount_usd: usdFromMicros(row.amount_micros ?? 0n),
  merchant_name: row.merchant_name,
  created_at: row.created_at.toISOString(),
})

type RefundDecision = { action: string } & Partial<
  Pick<PendingClearingRow, 'approved_at' | 'refused_at'>
>

/** Records the decision on a held refund. A task books approved ones within seconds. */
export async function decideHeldRefund(
  { tx, audit }: OperatorContext,
  id: string,
  { action, approved_at = null, refused_at = null }: RefundDecision,
): Promise<HeldRefund> {
  const row = await lockWaiting(tx, id, 'review')
  if (row === null) throw new Problem('not_found', 'No such refund awaiting approval.')
  const decided = { approved_at, refused_at }
  await decideRefund(tx, row, decided)
  audit(row.account_id, { action, resource: { type: 'card', id: row.card_id } })
  return heldRefundView({ ...row, ...decided })
}
