import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { InputOfName } from '#contract/operations.ts'
import { callOperation } from '#panel/api.ts'
import type { ListName, RowOf } from '#panel/queries.ts'

const PAGE_ROWS = 100
/** Ten requests per list; a reader who looks for older rows uses the list's own filters. */
export const SEARCHED_MAX = 1_000

export type NewestRows<Row> = { rows: Row[]; is_cut: boolean }

/** The newest rows of a list, page after page. The first page is searched while others load. */
export function useNewestRows<Name extends ListName>(name: Name): NewestRows<RowOf<Name>> {
  const { data, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: [name, 'search'],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam }
      return callOperation(name, { limit: PAGE_ROWS, ...cursor } as InputOfName<Name>, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  const rows = data?.pages.flatMap((page) => page.data as RowOf<Name>[]) ?? []
  const can_load = hasNextPage && !isFetching && rows.length < SEARCHED_MAX
  useEffect(() => {
    if (can_load) void fetchNextPage()
  }, [can_load, fetchNextPage])
  return { rows, is_cut: hasNextPage && rows.length >= SEARCHED_MAX }
}
