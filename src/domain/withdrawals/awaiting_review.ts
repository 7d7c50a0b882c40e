import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { isHeldBySuspension, type WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { findWithdrawalOwner, lockWithAccountStatus } from './withdrawal_store.ts'

/** Locks a withdrawal that awaits an operator: in review, or held by a suspension. */
export async function lockAwaitingReview(tx: Tx, id: string): Promise<WithdrawalRow> {
  const withdrawal = await lockWithAccountStatus(tx, {
    account_id: await findWithdrawalOwner(tx, id),
    id,
  })
  if (withdrawal.step === 'review') return withdrawal
  if (isHeldBySuspension(withdrawal)) return withdrawal
  const sentence = `This withdrawal is ${withdrawal.status} and not awaiting review.`
  throw new Problem('invalid_request', sentence, { status: 409 })
}

/** A withdrawal above the threshold is in the console only; one that a task gave up also alerts. */
export function alertOperator(
  { log, metrics }: WithdrawalDependencies,
  { id, txid }: WithdrawalRow,
  message: string,
): void {
  metrics.held_withdrawals.inc()
  log.error(message, { withdrawal_id: id, txid }, undefined)
}
