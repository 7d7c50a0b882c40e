import {
  notifyManager,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import type { InputOfName, OperationName, OutputOfName } from '#contract/operations.ts'
import { callOperation } from './api.ts'
import { refetch } from './refetch.ts'

/** TanStack Query hooks for the operations of the contract. The operation name is the query key. */

/**
 * By default components are notified in the next macrotask, which a busy browser runs after the
 * next click: a double click loaded a card twice. In a microtask, the first click disables the
 * button.
 */
notifyManager.setScheduler(queueMicrotask)

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The API client already retries, and knows which requests are safe to repeat.
      retry: false,
    },
    mutations: { retry: false },
  },
})

/** Operations whose queries are refetched after a mutation succeeds. */
const invalidated_operations: Partial<Record<OperationName, readonly OperationName[]>> = {
  update_account: ['get_account', 'list_sessions'],
  enable_2fa: ['get_account'],
  disable_2fa: ['get_account'],
  revoke_session: ['list_sessions'],
  create_api_key: ['list_api_keys'],
  revoke_api_key: ['list_api_keys'],
  create_topup: ['list_topups'],
  cancel_topup: ['list_topups', 'get_topup'],
  issue_card: ['list_cards', 'get_balance', 'get_balance_history', 'get_account'],
  replace_card: ['list_cards', 'get_card', 'get_account'],
  load_card: ['list_cards', 'get_card', 'get_balance', 'get_balance_history', 'get_account'],
  unload_card: ['list_cards', 'get_card', 'get_balance', 'get_balance_history', 'get_account'],
  freeze_card: ['list_cards', 'get_card', 'get_account'],
  unfreeze_card: ['list_cards', 'get_card', 'get_account'],
  cancel_card: ['list_cards', 'get_card', 'get_balance', 'get_balance_history', 'get_account'],
  set_card_limits: ['list_cards', 'get_card'],
  set_mcc_rules: ['list_cards', 'get_card'],
  set_card_geo: ['list_cards', 'get_card'],
  update_card: ['list_cards', 'get_card'],
  withdraw: ['list_withdrawals', 'get_balance', 'get_balance_history', 'get_account', 'get_limits'],
  file_dispute: ['list_disputes', 'list_transactions', 'get_transaction', 'get_balance'],
  add_dispute_evidence: ['list_disputes', 'get_dispute'],
  create_webhook: ['list_webhooks'],
  update_webhook: ['list_webhooks'],
  delete_webhook: ['list_webhooks'],
  replay_webhook: ['list_webhooks'],
  decide_approval: ['list_approvals'],
  open_ticket: ['list_tickets'],
  reply_ticket: ['list_tickets', 'get_ticket'],
}

export async function invalidateOperations(names: readonly OperationName[]): Promise<void> {
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })))
}

/**
 * Rows stay on screen while a filter changes, but never one object on the page of another, where
 * its buttons would change the wrong one.
 */
const keepPreviousOf =
  (input: object) =>
  <Data>(previous: Data | undefined, query: { queryKey: readonly unknown[] } | undefined) =>
    idOf(query?.queryKey[1]) === idOf(input) ? previous : undefined

const idOf = (input: unknown) => (input as { id?: string } | undefined)?.id

type QueryOptions = {
  /** Milliseconds; for data that changes without an activity event, such as confirmations. */
  refetchInterval?: number
  /** False as long as the input is not known. */
  enabled?: boolean
}

export function useOperationQuery<Name extends OperationName>(
  name: Name,
  input: InputOfName<Name>,
  { refetchInterval, enabled = true }: QueryOptions = {},
): UseQueryResult<OutputOfName<Name>, FlorinError> {
  return useQuery<OutputOfName<Name>, FlorinError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => callOperation(name, input, { signal }),
    enabled,
    refetchInterval: refetchInterval ?? false,
    placeholderData: keepPreviousOf(input),
  })
}

export type ListName = {
  [Name in OperationName]: OutputOfName<Name> extends { data: unknown[]; next_cursor: unknown }
    ? Name
    : never
}[OperationName]
export type RowOf<Name extends ListName> = OutputOfName<Name>['data'][number]

export type List<Row> = {
  rows: Row[] | undefined
  problem: FlorinError | null
  has_more: boolean
  is_loading_more: boolean
  loadMore(): void
  retry(): void
}

/** A paginated list. `rows` is undefined until the first page has loaded. */
export function useOperationList<Name extends ListName>(
  name: Name,
  input: InputOfName<Name>,
): List<RowOf<Name>> {
  const query = useInfiniteQuery({
    queryKey: [name, input],
    queryFn: ({ pageParam, signal }) =>
      callOperation(
        name,
        { ...input, ...(pageParam !== null && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousOf(input),
  })
  return {
    rows: query.data?.pages.flatMap(({ data }) => data as RowOf<Name>[]),
    problem: query.error as FlorinError | null,
    has_more: query.hasNextPage,
    is_loading_more: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  }
}

type MutationOptions<Name extends OperationName> = {
  onSuccess?: (output: OutputOfName<Name>) => void
  onError?: (error: FlorinError) => void
  /** Applies an optimistic update and returns the function that rolls it back. */
  onMutate?: () => () => void
}

type MutationContext = { rollback: (() => void) | undefined }

/** Calls an operation and refetches the queries it affects. Forms show `error`. */
export function useOperationMutation<Name extends OperationName>(
  name: Name,
  { onSuccess, onError, onMutate }: MutationOptions<Name> = {},
): UseMutationResult<OutputOfName<Name>, FlorinError, InputOfName<Name>, MutationContext> {
  const client = useQueryClient()
  return useMutation<OutputOfName<Name>, FlorinError, InputOfName<Name>, MutationContext>({
    mutationKey: [name],
    mutationFn: (input) => callOperation(name, input),
    onMutate: () => ({ rollback: onMutate?.() }),
    onError: (error, _input, context) => {
      context?.rollback?.()
      onError?.(error)
    },
    onSuccess: (output) => {
      for (const stale of [...(invalidated_operations[name] ?? []), 'get_activity' as const]) {
        void refetch(client, { queryKey: [stale] })
      }
      onSuccess?.(output)
    },
  })
}
