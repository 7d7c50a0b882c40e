import type { InvalidateQueryFilters, QueryClient } from '@tanstack/react-query'

/**
 * Refetches queries after a change. A first fetch that is under way may have read the state from
 * before it, and invalidating alone would keep its result.
 */
export async function refetch(client: QueryClient, filters: InvalidateQueryFilters): Promise<void> {
  await client.cancelQueries(filters)
  await client.invalidateQueries(filters)
}
