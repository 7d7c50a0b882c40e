import type { Topup } from '#contract/topups.ts'
import type { Transaction } from '#contract/transactions.ts'
import { request } from './api.ts'
import { refresh } from './queries.ts'

/** The sandbox's controls: what the world outside would do. They exist in sandbox mode only. */
async function play<Answer>(path: string, body: object = {}): Promise<Answer> {
  const answer = await request<Answer>(`/sandbox/v1/${path}`, { method: 'POST', body })
  await refresh(STALE_AFTERWARDS)
  return answer
}

const STALE_AFTERWARDS = [
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
    play<Topup>(`topups/${topup_id}/deposit`, { amount_usd }),
  confirm: (topup_id: string) => play<Topup>(`topups/${topup_id}/confirm`),
  authorize: (card_id: string, purchase: Purchase) =>
    play<Transaction>(`cards/${card_id}/authorize`, purchase),
  capture: (transaction_id: string) => play<Transaction>(`transactions/${transaction_id}/capture`),
  refund: (transaction_id: string) => play<Transaction>(`transactions/${transaction_id}/refund`),
  advanceClock: (seconds: number) => play<{ now: string }>('clock/advance', { seconds }),
}
