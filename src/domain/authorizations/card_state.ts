import type { CardRow } from '#domain/cards/card.ts'
import type { CardSpending } from '#domain/cards/limits.ts'
import type { Micros } from '#kernel/money.ts'

/** A card as decisions see it. Each decision of the batch updates it. */
export type CardState = Pick<
  CardRow,
  | 'account_id'
  | 'id'
  | 'brand'
  | 'status'
  | 'last4'
  | 'exp_month'
  | 'exp_year'
  | 'mcc_allow'
  | 'mcc_deny'
  | 'geo_allow'
  | 'geo_deny'
  | 'usage'
  | 'merchant_lock_name'
  | 'merchant_lock_id'
  | 'valid_until'
  | 'cancel_reason'
> & {
  pan_hash: string
  is_suspended: boolean
  /** The lower of the cardholder's limit and the program's. */
  limits: { per_transaction: Micros; daily: Micros; monthly: Micros }
  /** Shared by a chain of replaced cards and stored in the purse of the last one. */
  spent: CardSpending & { card_id: string }
  failed_at: Date[]
}

export type ChallengeState = {
  account_id: string
  id: string
  card_id: string
  status: 'pending' | 'approved' | 'declined' | 'expired'
  amount_minor: bigint
  currency: string
  merchant_name: string
  merchant_id: string | null
  decided_at: Date | null
  used_by: string | null
}

/** YYMM, as in DE 14. */
export function expiryOf({ exp_year, exp_month }: Pick<CardState, 'exp_year' | 'exp_month'>) {
  return `${String(exp_year % 100).padStart(2, '0')}${String(exp_month).padStart(2, '0')}`
}

/** Adds the countries the program blocks to those the cardholder blocks. */
export function withoutCountries(card: CardState, blocked: readonly string[]): CardState {
  return blocked.length === 0 ? card : { ...card, geo_deny: [...blocked, ...(card.geo_deny ?? [])] }
}
