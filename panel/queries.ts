import {
  keepPreviousData,
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
import { call } from './api.ts'

/** Reads and writes by operation name: it is the query's key, and what a write makes stale. */

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The client has its own patience, and knows what is worth a second try.
      retry: false,
    },
    mutations: { retry: false },
  },
})

/** What a success changes besides what it is about. A name here means every query of that name. */
const changes: Partial<Record<OperationName, readonly OperationName[]>> = {
  update_account: ['get_account'],
  enable_2fa: ['get_account'],
  disable_2fa: ['get_account'],
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
  withdraw: ['list_withdrawals', 'get_balance', 'get_balance_history', 'get_account', 'get_limits'],
  file_dispute: ['list_disputes', 'list_transactions', 'get_transaction', 'get_balance'],
  add_dispute_evidence: ['list_disputes', 'get_dispute'],
  create_webhook: ['list_webhooks'],
  update_webhook: ['list_webhooks'],
  delete_webhook: ['list_webhooks'],
  replay_webhook: ['list_webhooks'],
  open_ticket: ['list_tickets'],
}

export async function refresh(names: readonly OperationName[]): Promise<void> {
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })))
}

/** For what changes without an event, such as confirmations: it is read again so often. */
type Again = { every_ms?: number }

/** One answer. */
export function useRead<Name extends OperationName>(
  name: Name,
  input: InputOfName<Name>,
  { every_ms }: Again = {},
): UseQueryResult<OutputOfName<Name>, FlorinError> {
  return useQuery<OutputOfName<Name>, FlorinError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, { signal }),
    refetchInterval: every_ms ?? false,
    placeholderData: keepPreviousData,
  })
}

type ListName = {
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

/** A list by pages: `rows` grows as more are loaded, and is undefined until the first has come. */
export function useList<Name extends ListName>(
  name: Name,
  input: InputOfName<Name>,
  { every_ms }: Again = {},
): List<RowOf<Name>> {
  const query = useInfiniteQuery({
    queryKey: [name, input],
    queryFn: ({ pageParam, signal }) =>
      call(name, { ...input, ...(pageParam !== null && { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: every_ms ?? false,
    placeholderData: keepPreviousData,
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

type After<Name extends OperationName> = {
  done?: (output: OutputOfName<Name>) => void
  failed?: (problem: FlorinError) => void
  /** Shows the outcome before it has come, and answers with how to take that back. */
  meanwhile?: () => () => void
}

/** A write. What it changes is read again; its refusal is in `error` for the form to show. */
export function useAct<Name extends OperationName>(
  name: Name,
  { done, failed, meanwhile }: After<Name> = {},
): UseMutationResult<OutputOfName<Name>, FlorinError, InputOfName<Name>, Undo> {
  const client = useQueryClient()
  return useMutation<OutputOfName<Name>, FlorinError, InputOfName<Name>, Undo>({
    mutationKey: [name],
    mutationFn: (input) => call(name, input),
    onMutate: () => ({ undo: meanwhile?.() }),
    onError: (problem, _input, shown) => {
      shown?.undo?.()
      failed?.(problem)
    },
    onSuccess: (output) => {
      for (const stale of [...(changes[name] ?? []), 'get_activity' as const]) {
        void client.invalidateQueries({ queryKey: [stale] })
      }
      done?.(output)
    },
  })
}

type Undo = { undo: (() => void) | undefined }
