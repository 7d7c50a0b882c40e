import { lockCardOf } from '#domain/cards/card_store.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { formatUsd } from '#kernel/money.ts'
import { disputeEvent, disputeReference, requireOpen } from './dispute.ts'
import { reverseDispute } from './dispute_money.ts'
import {
  changeDispute,
  type DisputeChange,
  findDispute,
  findMerchantName,
  lockDisputeOf,
} from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

/** Resolves a dispute. Won: the account keeps the credit. Lost: the credit is reversed. */
export const operatorCloseDispute: OperatorHandler<'operator_close_dispute'> = async (
  { tx, now, newId, emit, audit },
  { id, outcome, text },
) => {
  const { account_id, card_id } = await findDispute(tx, id)
  await lockCardOf(tx, account_id, card_id)
  const dispute = await lockDisputeOf(tx, account_id, id)
  requireOpen(dispute)
  const money = { tx, dispute, stamp: { now, newId } }
  const debts = outcome === 'lost' ? await reverseDispute(money) : []
  const response: DisputeChange =
    text === undefined ? {} : { response_text: text, response_at: now }
  const closed = await changeDispute(tx, dispute, {
    change: {
      status: 'closed',
      outcome,
      closed_by: 'operator',
      resolved_at: now,
      ...response,
    },
    now,
  })
  const view = await showDispute(tx, closed)
  const amount = formatUsd(dispute.amount_micros)
  const merchant = await findMerchantName(tx, dispute)
  emit(
    account_id,
    disputeEvent(closed, view, {
      type: 'dispute.resolved',
      message: `You ${outcome} your dispute with ${merchant} (${amount}).`,
      severity: outcome === 'won' ? 'info' : 'warning',
      previous_attributes: { status: dispute.status, outcome: null },
    }),
  )
  for (const debt of debts) emit(account_id, debt)
  audit(account_id, { action: 'close_dispute', resource: disputeReference(id) })
  return view
}
