import type { Transaction } from '#contract/transactions.ts'
import { useOperationQuery } from '#panel/queries.ts'

/** All transactions of the purchase, oldest first. Declines and forced captures have no others. */
export function useRelated(transaction: Transaction): readonly Transaction[] {
  const { authorization_id } = transaction
  const found = useOperationQuery('list_transactions', {
    authorization_id: authorization_id ?? transaction.id,
    order: 'asc',
    limit: 100,
  }).data?.data
  return found === undefined || found.length === 0 ? [transaction] : found
}
