import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import type { SystemLimits } from '#contract/system.ts'
import { requestJson } from './api.ts'
import { queryClient } from './queries.ts'

/** An OAuth grant that the account owner gave to an agent. */
export type Grant = {
  id: string
  client_id: string
  client_name: string | null
  status: 'active' | 'revoked'
  scopes: string[]
  card_ids: string[] | null
  last_used_at: string | null
  last_used_ip: string | null
  created_at: string
  expires_at: string
  revoked_at: string | null
  budget: GrantBudget | null
}

/** The most an agent can move out of the balance before it has to ask. */
export type GrantBudget = NonNullable<SystemLimits['budget']>

/** Agents choose their own name at registration; without one, the client ID identifies them. */
export const agentName = ({ client_name, client_id }: Grant): string => client_name ?? client_id

const QUERY_KEY = ['grants']

/** Grants are not an API operation, so that an agent cannot list the grants of other agents. */
export function useGrants(): UseQueryResult<Grant[], FlorinError> {
  return useQuery<Grant[], FlorinError>({
    queryKey: QUERY_KEY,
    queryFn: async ({ signal }) =>
      (await requestJson<{ data: Grant[] }>('/oauth/grants', { method: 'GET', signal })).data,
  })
}

export function useRevokeGrant(
  onSuccess: () => void,
): UseMutationResult<unknown, FlorinError, string> {
  return useMutation<unknown, FlorinError, string>({
    mutationFn: (id) => requestJson(`/oauth/grants/${id}`, { method: 'DELETE' }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: QUERY_KEY })
      onSuccess()
    },
  })
}

/** A scope is only taken away here; to give one, the owner connects the agent again. */
export function useRemoveScope(
  onSuccess: () => void,
): UseMutationResult<unknown, FlorinError, { id: string; scope: string }> {
  return useMutation<unknown, FlorinError, { id: string; scope: string }>({
    mutationFn: ({ id, scope }) =>
      requestJson(`/oauth/grants/${id}/scopes/${encodeURIComponent(scope)}`, { method: 'DELETE' }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: QUERY_KEY })
      onSuccess()
    },
  })
}

type BudgetInput = Pick<GrantBudget, 'amount_usd' | 'period'> & { ask_above_usd?: number }
type BudgetChange = { id: string; budget: BudgetInput | null }

/** A change needs no new consent; null removes the budget. */
export function useSetBudget(
  onSuccess: () => void,
): UseMutationResult<unknown, FlorinError, BudgetChange> {
  return useMutation<unknown, FlorinError, BudgetChange>({
    mutationFn: ({ id, budget }) => {
      const path = `/oauth/grants/${id}/budget`
      if (budget === null) return requestJson(path, { method: 'DELETE' })
      return requestJson(path, { method: 'PUT', body: budget })
    },
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: QUERY_KEY })
      onSuccess()
    },
  })
}
