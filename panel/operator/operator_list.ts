import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import type { List } from '#panel/queries.ts'
import { callOperator } from './operator_api.ts'

type PageOf<Row> = { data: Row[]; next_cursor: string | null }

/** A paginated list of the operator API, in the shape that Table takes. */
export function useOperatorList<Row>(
  path: string,
  filters: Readonly<Record<string, string>> = {},
): List<Row> {
  const query = useInfiniteQuery({
    queryKey: [path, filters],
    queryFn: ({ pageParam }) => {
      const params = new URLSearchParams({ ...filters, ...(pageParam && { cursor: pageParam }) })
      return callOperator<PageOf<Row>>('GET', `${path}?${params}`)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
  })
  return {
    rows: query.data?.pages.flatMap(({ data }) => data),
    problem: query.error as FlorinError | null,
    has_more: query.hasNextPage,
    is_loading_more: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  }
}
