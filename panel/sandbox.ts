import { useQuery } from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import type { Topup } from '#contract/topups.ts'
import type { Transaction } from '#contract/transactions.ts'
import { requestJson } from './api.ts'
import { invalidateOperations } from './queries.ts'
import { setServiceTime } from './service_clock.ts'

/** Sandbox-only routes that simulate the blockchain, merchants and the clock. */
async function callSandbox<Result>(path: string, body: object = {}): Promise<Result> {
  const result = await requestJson<Result>(`/sandbox/v1/${path}`, { method: 'POST', body })
  await invalidateOperations(INVALIDATED_OPERATIONS)
  return result
}

const INVALIDATED_OPERATIONS = [
  'get_account',
  'get_balance',
  'get_balance_history',
  'list_topups',
  'get_topup',
  'list_cards',
  'get_card',
  'list_transactions',
  'list_card_transactions',
  'get_transaction',
  'get_activity',
  'filter_activity',
] as const

export type Purchase = {
  amount: number
  currency?: string
  merchant_name?: string
  mcc?: string
  merchant_country?: string
}

export const sandbox = {
  deposit: (topup_id: string, amount_usd: number) =>
    callSandbox<Topup>(`topups/${topup_id}/deposit`, { amount_usd }),
  confirm: (topup_id: string) => callSandbox<Topup>(`topups/${topup_id}/confirm`),
  authorize: (card_id: string, purchase: Purchase) =>
    callSandbox<Transaction>(`cards/${card_id}/authorize`, purchase),
  capture: (transaction_id: string) =>
    callSandbox<Transaction>(`transactions/${transaction_id}/capture`),
  refund: (transaction_id: string) =>
    callSandbox<Transaction>(`transactions/${transaction_id}/refund`),
  advanceClock: async (seconds: number) => {
    const advanced = await callSandbox<{ now: string }>('clock/advance', { seconds })
    setServiceTime(advanced.now)
    return advanced
  },
}

type ServerCard = { _meta: { 'florin/mode': string } }

/** Works without a session; with one, `livemode` of the account says the same. */
export function useIsSandbox({ enabled }: { enabled: boolean }): boolean {
  const card = useQuery<ServerCard, FlorinError>({
    queryKey: ['server_card'],
    queryFn: ({ signal }) =>
      requestJson('/.well-known/mcp/server-card.json', { method: 'GET', bearer: null, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  })
  return card.data?._meta['florin/mode'] === 'sandbox'
}
