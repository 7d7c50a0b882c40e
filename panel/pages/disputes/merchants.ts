import type { Dispute } from '#contract/disputes.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { merchantName } from '#panel/words/merchant_name.ts'

/** The merchants of the disputed transactions, by dispute. */
export function useMerchants(
  disputes: readonly Dispute[] | undefined,
): ReadonlyMap<string, string> {
  const ids = (disputes ?? []).map(({ id }) => id)
  const input = { dispute_id: ids.join(','), limit: 100 }
  const options = { enabled: ids.length > 0 }
  const transactions = useOperationQuery('list_transactions', input, options).data?.data ?? []
  return new Map(transactions.map((each) => [each.dispute_id ?? '', merchantName(each)]))
}
