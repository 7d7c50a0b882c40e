import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import { request } from './api.ts'
import { queryClient } from './queries.ts'

/** What the owner of the account allowed to an agent. */
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
}

/** Names are the agent's own choice; one that chose none is known by its id. */
export const nameOfAgent = ({ client_name, client_id }: Grant): string => client_name ?? client_id

const KEY = ['grants']

/** Grants are no operation: only their owner sees them, so no agent may list what others have. */
export function useGrants(): UseQueryResult<Grant[], FlorinError> {
  return useQuery<Grant[], FlorinError>({
    queryKey: KEY,
    queryFn: async ({ signal }) =>
      (await request<{ data: Grant[] }>('/oauth/grants', { method: 'GET', signal })).data,
  })
}

export function useRevokeGrant(done: () => void): UseMutationResult<unknown, FlorinError, string> {
  return useMutation<unknown, FlorinError, string>({
    mutationFn: (id) => request(`/oauth/grants/${id}`, { method: 'DELETE' }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: KEY })
      done()
    },
  })
}
