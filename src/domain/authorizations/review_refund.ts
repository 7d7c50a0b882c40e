import { Problem } from '#contract/problem.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { amountFromMinor } from '#iso8583/currencies.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { PageInput, PageOf } from '#platform/postgres/page.ts'
import { decideRefund, lockWaiting, pageOfHeldRefunds, type UnpricedRow } from './unpriced_store.ts'

/** A refund of more than its captures. The network got an approval. */
export type HeldRefund = {
  id: string
  account_id: string
  card_id: string
  status: 'waiting' | 'approved' | 'refused'
  amount: number
  currency: string
  amount_usd: number
  merchant_name: string
  created_at: string
}

const statusOf = ({ approved_at, refused_at }: UnpricedRow): HeldRefund['status'] => {
  if (refused_at !== null) return 'refused'
  return approved_at === null ? 'waiting' : 'approved'
}

const viewOf = (row: UnpricedRow): HeldRefund => ({
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

export async function findHeldRefunds(
  { tx }: OperatorContext,
  input: PageInput,
): Promise<PageOf<HeldRefund>> {
  const page = await pageOfHeldRefunds(tx, input)
  return { ...page, data: page.data.map(viewOf) }
}

/** The settle_clearings task credits it within seconds. */
export function approveRefund(context: OperatorContext, { id }: { id: string }) {
  return decide(context, id, { action: 'approve_refund', approved_at: context.now })
}

/** It is never credited; the operator settles it with the network. */
export function refuseRefund(context: OperatorContext, { id }: { id: string }) {
  return decide(context, id, { action: 'refuse_refund', refused_at: context.now })
}

type RefundDecision = { action: string } & Partial<Pick<UnpricedRow, 'approved_at' | 'refused_at'>>

async function decide(
  { tx, audit }: OperatorContext,
  id: string,
  { action, approved_at = null, refused_at = null }: RefundDecision,
): Promise<HeldRefund> {
  const row = await lockWaiting(tx, id, 'review')
  if (row === null) throw new Problem('not_found', 'No such refund awaiting approval.')
  const decided = { approved_at, refused_at }
  await decideRefund(tx, row, decided)
  audit(row.account_id, { action, resource: { type: 'card', id: row.card_id } })
  return viewOf({ ...row, ...decided })
}
