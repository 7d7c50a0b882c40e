import { useEffect } from 'react'
import type { OperationName } from '#contract/operations.ts'
import { call } from './api.ts'
import { refresh } from './queries.ts'

/** What is read again when something of this kind happens; the first part of an event's name. */
const concerns: Readonly<Record<string, readonly OperationName[]>> = {
  topup: ['get_topup', 'list_topups', 'get_balance', 'get_balance_history', 'get_account'],
  card: ['get_card', 'list_cards', 'get_balance', 'get_balance_history', 'get_account'],
  transaction: [
    'list_transactions',
    'list_card_transactions',
    'get_transaction',
    'get_card',
    'list_cards',
    'get_balance',
  ],
  dispute: ['list_disputes', 'get_dispute', 'get_balance', 'get_balance_history'],
  withdrawal: ['list_withdrawals', 'get_withdrawal', 'get_balance', 'get_balance_history'],
  account: ['get_account'],
  ticket: ['list_tickets'],
}

const PAUSE_MS = 5_000
const TOPUP_UNDER_WAY: readonly OperationName[] = ['get_topup']

/** Keeps what is on the screen up to date while the page is open. Used once, by the shell. */
export function useLive(): void {
  useEffect(() => {
    let last: string | undefined
    const look = async () => {
      if (document.visibilityState === 'hidden') return
      const { data } = await call('get_activity', { limit: 25 })
      const fresh = last === undefined ? [] : data.filter(({ id }) => id > (last ?? ''))
      last = data[0]?.id ?? ''
      const kinds = new Set(fresh.map(({ event }) => event.split('.')[0] ?? ''))
      const names = new Set([...kinds].flatMap((kind) => concerns[kind] ?? []))
      if (fresh.length > 0) await refresh([...names, 'get_activity', 'filter_activity'])
      // Confirmations grow without an event: who watches a top-up sees each one.
      await refresh(TOPUP_UNDER_WAY)
    }
    const beat = setInterval(() => void look().catch(() => undefined), PAUSE_MS)
    return () => clearInterval(beat)
  }, [])
}
