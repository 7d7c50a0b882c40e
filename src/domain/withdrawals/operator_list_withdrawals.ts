import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { type Condition, equals } from '#platform/postgres/page.ts'
import { withdrawalView } from './withdrawal.ts'
import { pageOfWithdrawals } from './withdrawal_store.ts'

/** Status `review` lists those that await approval. */
export const operatorListWithdrawals: OperatorHandler<'operator_list_withdrawals'> = async (
  { tx },
  input,
) => {
  const { status } = input
  const where: Condition[] = [
    ['id is not null'],
    ...(status === 'review' ? equals('step', 'review') : equals('status', status)),
    ...equals('account_id', input.account_id),
  ]
  const page = await pageOfWithdrawals(tx, { operation: 'operator_list_withdrawals', input, where })
  const data = page.data.map((row) => ({
    account_id: row.account_id,
    refund_of: row.refund_of,
    in_review: row.step === 'review',
    ...withdrawalView(row),
  }))
  return withEmails(tx, { ...page, data })
}
