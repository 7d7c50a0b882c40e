/**
 * A purse holds money. Customer purses belong to an account and have a stored balance; external
 * purses represent the outside: coins on chains, the card network, fees.
 */
const customer_purses = ['treasury', 'payout', 'card', 'hold', 'receivable'] as const
const external_purses = [
  'chain',
  'network',
  'fees',
  'suspense',
  'operator',
  'payers',
  'prepaid',
  'gas',
] as const

type CustomerKind = (typeof customer_purses)[number]
type ExternalKind = (typeof external_purses)[number]
export type PurseKind = CustomerKind | ExternalKind

/** `owner_id` is the card of a card's purses, and empty for all others. */
export type Purse = { kind: PurseKind; owner_id: string }

/** The balance an account can load onto cards or withdraw. */
export const treasury: Purse = { kind: 'treasury', owner_id: '' }
/** Withdrawals in progress: debited from the treasury, not final on their chain. */
export const payout: Purse = { kind: 'payout', owner_id: '' }
/** The account's debt; the only purse below zero. */
export const receivable: Purse = { kind: 'receivable', owner_id: '' }
/** A card's available balance. */
export const cardPurse = (card_id: string): Purse => ({ kind: 'card', owner_id: card_id })
/** A card's open authorizations. */
export const holdPurse = (card_id: string): Purse => ({ kind: 'hold', owner_id: card_id })

const externalPurse = (kind: ExternalKind): Purse => ({ kind, owner_id: '' })
export const chain = externalPurse('chain')
export const network = externalPurse('network')
export const fees = externalPurse('fees')
export const suspense = externalPurse('suspense')
export const operator = externalPurse('operator')
/** Payers of single calls; a negative amount is at the address they paid to. */
export const payers = externalPurse('payers')
/** Payments for calls that are not done yet. */
export const prepaid = externalPurse('prepaid')
/** Network fees of our own transfers. */
export const gas = externalPurse('gas')

export const CUSTOMER_KINDS: ReadonlySet<string> = new Set(customer_purses)

export function isCustomerPurse(purse: Purse): boolean {
  return CUSTOMER_KINDS.has(purse.kind)
}

/** A card's balance and holds share one row, because a purchase changes both. */
export type StoredKind = Exclude<CustomerKind, 'hold'>

export function storedKind(kind: PurseKind): PurseKind {
  return kind === 'hold' ? 'card' : kind
}
