import { Problem } from '#contract/problem.ts'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { move } from '#domain/ledger/post.ts'
import { payout, treasury } from '#domain/ledger/purse.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { formatUsd } from '#kernel/money.ts'
import { equals, type PageInput, type PageOf } from '#platform/postgres/page.ts'
import {
  isHeldBySuspension,
  type WithdrawalRow,
  withdrawalReference,
  withdrawalView,
} from './withdrawal.ts'
import {
  findWithdrawalOwner,
  lockWithAccountStatus,
  pageOfWithdrawals,
  updateWithdrawal,
} from './withdrawal_store.ts'

type OwnedWithdrawal = Withdrawal &
  Pick<WithdrawalRow, 'account_id' | 'refund_of'> & { in_review: boolean }
type WithdrawalFilter = PageInput & {
  status?: Withdrawal['status'] | 'review'
  account_id?: string
}

/** Withdrawals of all accounts; `review` lists those that await an operator. */
export async function findWithdrawals(
  { tx }: OperatorContext,
  input: WithdrawalFilter,
): Promise<PageOf<OwnedWithdrawal>> {
  const { status } = input
  const page = await pageOfWithdrawals(tx, input, [
    ['id is not null'],
    ...(status === 'review' ? equals('step', 'review') : equals('status', status)),
    ...equals('account_id', input.account_id),
  ])
  const data = page.data.map((row) => ({
    account_id: row.account_id,
    refund_of: row.refund_of,
    in_review: row.step === 'review',
    ...withdrawalView(row),
  }))
  return { ...page, data }
}

/** Locks a withdrawal that awaits an operator: in review, or held by a suspension. */
async function lockAwaitingReview({ tx }: OperatorContext, id: string): Promise<WithdrawalRow> {
  const withdrawal = await lockWithAccountStatus(tx, {
    account_id: await findWithdrawalOwner(tx, id),
    id,
  })
  if (withdrawal.step === 'review' && withdrawal.refund_of === null) return withdrawal
  if (isHeldBySuspension(withdrawal)) return withdrawal
  const sentence = `This withdrawal is ${withdrawal.status} and not awaiting review.`
  throw new Problem('invalid_request', sentence, { status: 409 })
}

/** The task that sends withdrawals picks it up. */
export async function approveWithdrawal(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Withdrawal> {
  const { tx, now } = context
  await requireRailOpen(tx, 'withdrawals')
  const withdrawal = await lockAwaitingReview(context, id)
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

/** Nothing is signed yet, so the whole amount returns to the treasury. */
export async function refuseWithdrawal(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Withdrawal> {
  const { tx, now, newId } = context
  const withdrawal = await lockAwaitingReview(context, id)
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
