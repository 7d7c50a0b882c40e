import type { CardRow } from '#domain/cards/card.ts'
import type { SpentOn } from '#domain/cards/limits.ts'
import type { Micros } from '#kernel/money.ts'

/** What a decision knows of a card. It is brought up to date by every decision of its batch. */
export type CardFacts = Pick<
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
> & {
  pan_hash: string
  is_suspended: boolean
  /** The holder's limit or the programme's, whichever is lower. */
  limits: { per_transaction: Micros; daily: Micros; monthly: Micros }
  /** Shared by a chain of replacements, and kept in the purse of its last card. */
  spent: SpentOn & { card_id: string }
  failed_at: Date[]
}

export type ChallengeFacts = {
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

/** Year and month in the order that messages give them. */
export function expiryOf({ exp_year, exp_month }: Pick<CardFacts, 'exp_year' | 'exp_month'>) {
  return `${String(exp_year % 100).padStart(2, '0')}${String(exp_month).padStart(2, '0')}`
}

/** Where the programme's cards do not pay, none of them does, whatever its holder allows. */
export function withoutCountries(card: CardFacts, blocked: readonly string[]): CardFacts {
  return blocked.length === 0 ? card : { ...card, geo_deny: [...blocked, ...(card.geo_deny ?? [])] }
}
