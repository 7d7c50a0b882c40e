import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import { requestJson } from '#panel/api.ts'

export type AgentLine = {
  agent: string
  client_id: string | null
  spent_usd: number
  refunds_usd: number
  withdrawals_usd: number
  fees_usd: number
  total_usd: number
  loaded_usd: number
  unloaded_usd: number
}

/** The statement of a month by agent. Refetched together with statements, when money moves. */
export function useAgentLines(period: string): UseQueryResult<AgentLine[], FlorinError> {
  return useQuery<AgentLine[], FlorinError>({
    queryKey: ['list_statements', 'by_agent', period],
    queryFn: async ({ signal }) => {
      const path = `/files/statements/${period}.agents.json`
      return (await requestJson<{ data: AgentLine[] }>(path, { method: 'GET', signal })).data
    },
  })
}
