import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { isHeldBySuspension, type WithdrawalRow } from './withdrawal.ts'
import { findWithdrawalOwner, lockWithAccountStatus } from './withdrawal_store.ts'

/** Locks a withdrawal that awaits an operator: in review, or held by a suspension. */
export async function lockAwaitingReview(tx: Tx, id: string): Promise<WithdrawalRow> {
  const withdrawal = await lockWithAccountStatus(tx, {
    account_id: await findWithdrawalOwner(tx, id),
    id,
  })
  if (withdrawal.step === 'review' && withdrawal.refund_of === null) return withdrawal
  if (isHeldBySuspension(withdrawal)) return withdrawal
  const sentence = `This withdrawal is ${withdrawal.status} and not awaiting review.`
  throw new Problem('invalid_request', sentence, { status: 409 })
}
