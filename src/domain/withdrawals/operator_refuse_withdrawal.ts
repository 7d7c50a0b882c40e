import type { OperatorHandler } from '#domain/operators/operator.ts'
import { lockAwaitingReview } from './awaiting_review.ts'
import { settleAsReturned } from './settle_withdrawal.ts'
import { withdrawalReference, withdrawalView } from './withdrawal.ts'

/**
 * The whole amount returns. No transfer of it can be mined any longer; if one is final, the
 * operator has looked at the chain and says that nothing arrived.
 */
export const operatorRefuseWithdrawal: OperatorHandler<'operator_refuse_withdrawal'> = async (
  context,
  { id },
) => {
  const withdrawal = await lockAwaitingReview(context.tx, id)
  const refused = await settleAsReturned(context.tx, context, withdrawal, 'refused')
  context.audit(withdrawal.account_id, {
    action: 'refuse_withdrawal',
    resource: withdrawalReference(id),
  })
  return withdrawalView(refused)
}
