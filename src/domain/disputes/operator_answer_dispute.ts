import type { OperatorHandler } from '#domain/operators/operator.ts'
import { formatUsd } from '#kernel/money.ts'
import { formatDay } from '#kernel/timestamp.ts'
import { type DisputeRow, disputeEvent, disputeReference, requireOpen } from './dispute.ts'
import { changeDispute, findDispute, findMerchantName, lockDisputeOf } from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

/** Records the merchant's response. A later response replaces an earlier one. */
export const operatorAnswerDispute: OperatorHandler<'operator_answer_dispute'> = async (
  { tx, now, emit, audit },
  { id, text },
) => {
  const { account_id } = await findDispute(tx, id)
  const dispute = await lockDisputeOf(tx, account_id, id)
  requireOpen(dispute)
  const answered = await changeDispute(tx, dispute, {
    change: { status: 'answered', response_text: text, response_at: now },
    now,
  })
  const amount = formatUsd(dispute.amount_micros)
  const merchant = await findMerchantName(tx, dispute)
  const message = `${merchant} responded to your dispute (${amount}); ${nextStep(dispute, now)}.`
  emit(account_id, disputeEvent(answered, null, { type: 'dispute.answered', message }))
  audit(account_id, { action: 'answer_dispute', resource: disputeReference(id) })
  return showDispute(tx, answered)
}

function nextStep({ evidence_due_at }: DisputeRow, now: Date): string {
  if (evidence_due_at <= now) return 'the deadline for evidence has passed'
  return `if you disagree, add evidence by ${formatDay(evidence_due_at)}`
}
