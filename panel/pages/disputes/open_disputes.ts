import type { Transaction } from '#contract/transactions.ts'
import { useOperationQuery } from '#panel/queries.ts'

const OPEN = { status: 'open,answered', limit: 100 }

/**
 * Returns a check for transactions of purchases with an open dispute. A dispute is about a
 * capture, which a list of purchases doesn't show.
 */
export function useIsDisputed(): (row: Transaction) => boolean {
  const ids = (useOperationQuery('list_disputes', OPEN).data?.data ?? []).map(({ id }) => id)
  const input = { dispute_id: ids.join(','), limit: 100 }
  const options = { enabled: ids.length > 0 }
  const captures = useOperationQuery('list_transactions', input, options).data?.data ?? []
  const purchases = new Set(
    ids.length === 0 ? [] : captures.map((row) => row.authorization_id ?? row.id),
  )
  return (row) => row.type !== 'refund' && purchases.has(row.authorization_id ?? row.id)
}
