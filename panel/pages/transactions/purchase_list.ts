import { useEffect, useState } from 'react'
import type { Transaction } from '#contract/transactions.ts'
import type { List } from '#panel/queries.ts'
import { matchesFilter } from './purchase.ts'

const PAGE_ROWS = 25

/** Purchases of a list of events. Pages are loaded until there are enough purchases to show. */
export function usePurchases(list: List<Transaction>, filter: string): List<Transaction> {
  const [wanted, setWanted] = useState(PAGE_ROWS)
  const rows = list.rows?.filter((row) => matchesFilter(row, filter))
  const needs_more =
    rows !== undefined && rows.length < wanted && list.has_more && list.problem === null
  const { is_loading_more, loadMore } = list
  const loaded = list.rows?.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that adds no purchase too.
  useEffect(() => {
    if (needs_more && !is_loading_more) loadMore()
  }, [needs_more, is_loading_more, loaded])
  const is_searching = needs_more && rows?.length === 0
  return {
    ...list,
    rows: is_searching ? undefined : rows,
    is_loading_more: is_loading_more || needs_more,
    loadMore: () => setWanted((rows?.length ?? 0) + PAGE_ROWS),
  }
}
