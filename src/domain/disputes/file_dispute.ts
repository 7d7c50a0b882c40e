import { lockCardOf } from '#domain/cards/card_store.ts'
import type { Handler } from '#domain/context/context.ts'
import { merchantText } from '#domain/transactions/transaction.ts'
import { findTransactionOf } from '#domain/transactions/transaction_store.ts'
import { formatUsd } from '#kernel/money.ts'
import {
  disputeEvent,
  disputeExists,
  disputeReference,
  disputeView,
  evidenceDueAt,
  requireAmount,
  requireDisputable,
} from './dispute.ts'
import { creditDispute } from './dispute_money.ts'
import { findEarlierDisputes, insertDispute } from './dispute_store.ts'

export const fileDispute: Handler<'file_dispute'> = async (context, input) => {
  const { tx, caller, now, newId } = context
  const { account_id } = caller
  const { card_id } = await findTransactionOf(tx, caller, input.transaction_id)
  await lockCardOf(tx, account_id, card_id)
  // Read again under the lock, because a refund may have been posted in between.
  const capture = await findTransactionOf(tx, caller, input.transaction_id)
  requireDisputable(capture, now)
  const { has_open, ...earlier } = await findEarlierDisputes(tx, capture)
  if (has_open) throw disputeExists()
  const { authorization_id } = capture
  const authorization =
    authorization_id === null ? null : await findTransactionOf(tx, caller, authorization_id)

  const dispute = await insertDispute(tx, {
    account_id,
    id: newId('dsp'),
    transaction_id: capture.id,
    card_id,
    amount_micros: requireAmount(input.amount_usd, { capture, authorization, ...earlier }),
    reason: input.reason,
    explanation: input.explanation,
    evidence_due_at: evidenceDueAt(now),
    metadata: input.metadata ?? {},
    created_at: now,
  })
  await creditDispute({ tx, dispute, stamp: { now, newId } })

  const view = disputeView(dispute, [])
  const amount = formatUsd(dispute.amount_micros)
  context.emit(
    account_id,
    disputeEvent(dispute, view, {
      type: 'dispute.opened',
      message: `You disputed a ${amount} charge from ${merchantText(capture)}.`,
    }),
  )
  context.audit(account_id, { action: 'file_dispute', resource: disputeReference(dispute.id) })
  return view
}
