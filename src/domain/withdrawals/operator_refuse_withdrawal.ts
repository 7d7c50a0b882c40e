import { move } from '#domain/ledger/move.ts'
import { payout, treasury } from '#domain/ledger/purse.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { formatUsd } from '#kernel/money.ts'
import { lockAwaitingReview } from './awaiting_review.ts'
import { withdrawalReference, withdrawalView } from './withdrawal.ts'
import { updateWithdrawal } from './withdrawal_store.ts'

/** Nothing is signed yet, so the whole amount returns to the treasury. */
export const operatorRefuseWithdrawal: OperatorHandler<'operator_refuse_withdrawal'> = async (
  context,
  { id },
) => {
  const { tx, now, newId } = context
  const withdrawal = await lockAwaitingReview(tx, id)
  const { account_id, amount_micros } = withdrawal
  const reference = withdrawalReference(id)
  await move(
    tx,
    {
      movement: 'withdrawal_returned',
      account_id,
      from: payout,
      to: treasury,
      amount_micros,
      reference,
      description: `${withdrawal.asset} to ${withdrawal.address} on ${withdrawal.chain}`,
    },
    { now, newId },
  )
  const change = { status: 'failed', step: 'failed', status_reason: 'refused' } as const
  const refused = await updateWithdrawal(tx, withdrawal, change, now)
  context.emit(account_id, {
    type: 'withdrawal.failed',
    severity: 'error',
    message: `Withdrawal refused. ${formatUsd(amount_micros)} returned to your balance.`,
    resource: reference,
    object: null,
    amount_micros,
  })
  context.audit(account_id, { action: 'refuse_withdrawal', resource: reference })
  return withdrawalView(refused)
}
