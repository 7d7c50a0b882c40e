import { Problem } from '#contract/problem.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { lockAwaitingReview } from './awaiting_review.ts'
import { isHeldBySuspension, withdrawalReference, withdrawalView } from './withdrawal.ts'
import { updateWithdrawal } from './withdrawal_store.ts'

/** The task that sends withdrawals picks it up. */
export const operatorApproveWithdrawal: OperatorHandler<'operator_approve_withdrawal'> = async (
  context,
  { id },
) => {
  const { tx, now } = context
  await requireRailOpen(tx, 'withdrawals')
  const withdrawal = await lockAwaitingReview(tx, id)
  if (isHeldBySuspension(withdrawal)) {
    throw new Problem(
      'account_suspended',
      'The account is suspended. Reinstate it before you approve the withdrawal.',
    )
  }
  const change = { step: 'reserved', status_reason: null, next_try_at: now } as const
  const approved = await updateWithdrawal(tx, withdrawal, change, now)
  context.audit(withdrawal.account_id, {
    action: 'approve_withdrawal',
    resource: withdrawalReference(id),
  })
  return withdrawalView(approved)
}
