import { Problem } from '#contract/problem.ts'
import type { OperatorContext, OperatorHandler } from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { lockAwaitingReview } from './awaiting_review.ts'
import { settleAsSent } from './settle_withdrawal.ts'
import {
  isHeldBySuspension,
  isMismatch,
  type WithdrawalRow,
  withdrawalReference,
  withdrawalView,
} from './withdrawal.ts'
import { updateWithdrawal } from './withdrawal_store.ts'

/**
 * The task that sends withdrawals picks it up. If its transfer is final already, it is never sent
 * again: the operator has looked at the chain and counts it as sent.
 */
export const operatorApproveWithdrawal: OperatorHandler<'operator_approve_withdrawal'> = async (
  context,
  { id },
) => {
  const withdrawal = await lockAwaitingReview(context.tx, id)
  const approved = isMismatch(withdrawal)
    ? await settleAsSent(context.tx, context, withdrawal, withdrawal)
    : await releaseToSend(context, withdrawal)
  context.audit(withdrawal.account_id, {
    action: 'approve_withdrawal',
    resource: withdrawalReference(id),
  })
  return withdrawalView(approved)
}

async function releaseToSend(
  { tx, now }: OperatorContext,
  withdrawal: WithdrawalRow,
): Promise<WithdrawalRow> {
  await requireRailOpen(tx, 'withdrawals')
  if (isHeldBySuspension(withdrawal)) {
    throw new Problem(
      'account_suspended',
      'The account is suspended. Reinstate it before you approve the withdrawal.',
    )
  }
  const change = { step: 'reserved', status_reason: null, next_try_at: now } as const
  return updateWithdrawal(tx, withdrawal, change, now)
}
