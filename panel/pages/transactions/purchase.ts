import type { Transaction } from '#contract/transactions.ts'

/**
 * The API lists one row per event. The panel shows one row per purchase: its authorization, which
 * has the amounts captured and refunded so far, or the event itself if there was no authorization.
 */
export function isPurchase({ id, authorization_id }: Transaction): boolean {
  return authorization_id === null || authorization_id === id
}

const purchase_states = [
  'pending',
  'completed',
  'partially_refunded',
  'refunded',
  'declined',
  'reversed',
  'expired',
] as const
export type PurchaseState = (typeof purchase_states)[number]

export function purchaseState(row: Transaction): PurchaseState {
  if (row.type === 'decline') return 'declined'
  if (row.type === 'refund') return row.status === 'reversed' ? 'reversed' : 'refunded'
  if (row.refunded_usd > 0) {
    return row.refunded_usd < row.captured_usd ? 'partially_refunded' : 'refunded'
  }
  if (row.status === 'pending' || row.status === 'reversed' || row.status === 'expired') {
    return row.status
  }
  return row.held_usd > 0 ? 'pending' : 'completed'
}

/** The cost of a purchase: captured and still held, or the amount asked for if there is none. */
export function purchaseUsd(row: Transaction): number {
  if (row.type !== 'authorization') return row.amount_usd
  const taken_usd = Math.round((row.captured_usd + row.held_usd) * 1e6) / 1e6
  return taken_usd > 0 ? taken_usd : row.amount_usd
}

/** Filters of the list, and the API statuses that may have such purchases. */
export const state_filters = {
  pending: { title: 'Pending', status: 'pending,partially_captured', states: ['pending'] },
  completed: {
    title: 'Completed',
    status: 'captured,partially_captured,settled',
    states: ['completed', 'partially_refunded'],
  },
  refunded: {
    title: 'Refunded',
    status: 'captured,partially_captured,settled,reversed',
    states: ['refunded', 'partially_refunded'],
  },
  declined: { title: 'Declined', status: 'declined', states: ['declined'] },
  reversed: { title: 'Reversed', status: 'reversed', states: ['reversed'] },
  expired: { title: 'Expired', status: 'expired', states: ['expired'] },
} as const satisfies Record<
  string,
  { title: string; status: string; states: readonly PurchaseState[] }
>
export type StateFilter = keyof typeof state_filters

export const isStateFilter = (text: string): text is StateFilter =>
  Object.hasOwn(state_filters, text)

/** True if a purchase is one that the filter means; '' means all. */
export function matchesFilter(row: Transaction, filter: string): boolean {
  if (!isPurchase(row)) return false
  if (!isStateFilter(filter)) return true
  const states: readonly PurchaseState[] = state_filters[filter].states
  return states.includes(purchaseState(row))
}
