import type { Card, Shipping, Wallet } from '#contract/cards.ts'
import { cardNotFrozen } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller, NewEvent } from '#domain/context/context.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import { nameInSentence } from '#kernel/name_in_sentence.ts'
import { spendingWindow } from './limits.ts'

/** A card without its number, which only pan_vault.ts handles. */
export type CardRow = {
  account_id: string
  id: string
  /** The agent that issued it; null for the owner. */
  client_id: string | null
  bin: string
  last4: string
  brand: 'visa' | 'mastercard'
  type: 'virtual' | 'physical'
  status: 'active' | 'frozen' | 'cancelled'
  name: string | null
  exp_month: number
  exp_year: number
  wallet: Wallet
  /** Null: the holder has set no limit. Zero blocks all spending. */
  per_transaction_micros: Micros | null
  daily_micros: Micros | null
  monthly_micros: Micros | null
  mcc_allow: string[] | null
  mcc_deny: string[] | null
  geo_allow: string[] | null
  geo_deny: string[] | null
  usage: Card['usage']
  /** Null until the first approved authorization of a merchant_locked card. */
  merchant_lock_name: string | null
  merchant_lock_id: string | null
  valid_until: Date | null
  shipping: Shipping | null
  replaces: string | null
  replaced_by: string | null
  frozen_by: 'owner' | 'agent' | 'admin' | null
  cancel_reason: Card['cancel_reason']
  frozen_at: Date | null
  cancelled_at: Date | null
  metadata: Record<string, string>
  version: bigint
  created_at: Date
  updated_at: Date
}

/** The card's balances and its spending in the current UTC day and month. */
export type CardFunds = {
  balance_micros: Micros
  held_micros: Micros
  spent_day_micros: Micros
  spent_month_micros: Micros
}

export type FundedCard = CardRow & CardFunds

export function cardView(card: FundedCard, now: Date): Card {
  return {
    id: card.id,
    bin: card.bin,
    last4: card.last4,
    brand: card.brand,
    type: card.type,
    status: card.status,
    balance_usd: usdFromMicros(card.balance_micros),
    held_usd: usdFromMicros(card.held_micros),
    wallet: { apple_pay: card.wallet.apple_pay, google_pay: card.wallet.google_pay },
    name: card.name,
    exp_month: card.exp_month,
    exp_year: card.exp_year,
    limits: limitsView(card, now),
    mcc: { allow: card.mcc_allow, deny: card.mcc_deny },
    geo: { allow: card.geo_allow, deny: card.geo_deny },
    usage: card.usage,
    merchant_lock: merchantLockView(card),
    valid_until: card.valid_until?.toISOString() ?? null,
    shipping: card.shipping === null ? null : shippingView(card.shipping),
    replaces: card.replaces,
    replaced_by: card.replaced_by,
    frozen_by: card.frozen_by,
    cancel_reason: card.cancel_reason,
    frozen_at: card.frozen_at?.toISOString() ?? null,
    cancelled_at: card.cancelled_at?.toISOString() ?? null,
    metadata: card.metadata,
    version: Number(card.version),
    created_at: card.created_at.toISOString(),
    updated_at: card.updated_at.toISOString(),
  }
}

function merchantLockView(card: CardRow): Card['merchant_lock'] {
  const { merchant_lock_id: id, merchant_lock_name: name } = card
  return name === null ? null : { id, name }
}

function limitsView(card: FundedCard, now: Date): Card['limits'] {
  const usdOrNull = (micros: Micros | null) => (micros === null ? null : usdFromMicros(micros))
  const { daily_resets_at, monthly_resets_at } = spendingWindow(now)
  return {
    per_transaction_usd: usdOrNull(card.per_transaction_micros),
    daily_usd: usdOrNull(card.daily_micros),
    monthly_usd: usdOrNull(card.monthly_micros),
    spent: {
      daily_usd: usdFromMicros(card.spent_day_micros),
      monthly_usd: usdFromMicros(card.spent_month_micros),
      daily_resets_at: daily_resets_at.toISOString(),
      monthly_resets_at: monthly_resets_at.toISOString(),
    },
  }
}

/** Fields in the contract's order: jsonb does not keep the order of keys. */
function shippingView(shipping: Shipping): Shipping {
  const { name, line1, line2, city, state, postal_code, country, phone, method, ...tracking } =
    shipping
  const { status, carrier, tracking_number, tracking_url, shipped_at, delivered_at } = tracking
  const address = { name, line1, line2, city, state, postal_code, country, phone }
  const progress = { status, carrier, tracking_number, tracking_url, shipped_at, delivered_at }
  return { ...address, method, ...progress }
}

/**
 * A freeze stops spending only: a frozen card can be loaded, replaced, revealed and configured. A
 * cancelled card cannot. replace_card also refuses a card that an administrator froze.
 */
export function requireNotCancelled(card: CardRow): void {
  if (card.status !== 'cancelled') return
  throw new Problem('card_cancelled', 'This card is permanently canceled.')
}

export function requireUnfreezable(card: CardRow): void {
  requireNotCancelled(card)
  if (card.status !== 'frozen') throw cardNotFrozen()
  requireNotFrozenByAdmin(card)
}

/** Only an administrator can lift this freeze; a replacement card would be active and bypass it. */
export function requireNotFrozenByAdmin(card: CardRow): void {
  if (card.frozen_by !== 'admin') return
  throw new Problem('policy_denied', 'An administrator froze this card. Contact support.')
}

/** Agents are named separately, so the owner sees who froze the card. */
export function frozenBy({ kind }: Pick<Caller, 'kind'>): 'owner' | 'agent' {
  return kind === 'oauth_client' ? 'agent' : 'owner'
}

export function cardResource({ id }: Pick<CardRow, 'id'>): { type: 'card'; id: string } {
  return { type: 'card', id }
}

type CardEventInput = Pick<NewEvent, 'type' | 'message' | 'amount_micros' | 'previous_attributes'>

/** The object is null for an event that only the activity stream shows. */
export function cardEvent(
  card: Pick<CardRow, 'id'>,
  object: Card | null,
  input: CardEventInput,
): NewEvent {
  return { ...input, object, resource: cardResource(card), card_id: card.id }
}

/** The name of a card in messages to its holder. */
export function describeCard({ last4 }: Pick<CardRow, 'last4'>): string {
  return `card ending in ${last4}`
}

/** A card in a sentence whose subject is an app: Groceries ·· 8818. */
export function labelOf({ name, last4 }: Pick<CardRow, 'name' | 'last4'>): string {
  return `${nameInSentence(name) ?? 'card'} ·· ${last4}`
}

/** Cancels the shipment of a card that has not been produced yet. */
export function shippingAfterCancel(shipping: Shipping | null): Shipping | null {
  return shipping?.status === 'pending' ? { ...shipping, status: 'cancelled' } : shipping
}
