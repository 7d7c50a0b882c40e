/**
 * A purse is where money is. A customer's purses belong to an account and have a stored balance;
 * the world's stand for everything outside: coins on chains, the card network, our fees.
 */
export const customer_purses = ['treasury', 'payout', 'card', 'hold', 'receivable'] as const
export const external_purses = [
  'chain',
  'network',
  'fees',
  'suspense',
  'operator',
  'payers',
  'prepaid',
  'gas',
] as const

export type CustomerKind = (typeof customer_purses)[number]
export type ExternalKind = (typeof external_purses)[number]
export type PurseKind = CustomerKind | ExternalKind

/** `owner_id` is the card of a card's purses, and empty for all others. */
export type Purse = { kind: PurseKind; owner_id: string }

/** What an account can load onto cards or withdraw. */
export const treasury: Purse = { kind: 'treasury', owner_id: '' }
/** What is on its way out: taken off the treasury, not yet final on its chain. */
export const payout: Purse = { kind: 'payout', owner_id: '' }
/** What an account owes us; the only purse below zero. */
export const receivable: Purse = { kind: 'receivable', owner_id: '' }
/** What a card can spend. */
export const cardPurse = (card_id: string): Purse => ({ kind: 'card', owner_id: card_id })
/** What open authorizations of a card keep. */
export const holdPurse = (card_id: string): Purse => ({ kind: 'hold', owner_id: card_id })

const world = (kind: ExternalKind): Purse => ({ kind, owner_id: '' })
export const chain = world('chain')
export const network = world('network')
export const fees = world('fees')
export const suspense = world('suspense')
export const operator = world('operator')
/** Those who pay for single calls; what is below zero here is at the address they pay to. */
export const payers = world('payers')
/** Paid for calls that are still owed. */
export const prepaid = world('prepaid')
/** What networks took for the transfers that we sent ourselves. */
export const gas = world('gas')

export const CUSTOMER_KINDS: ReadonlySet<string> = new Set(customer_purses)

export function isCustomers(purse: Purse): boolean {
  return CUSTOMER_KINDS.has(purse.kind)
}

/** What a card can spend and what is held of it are one row: a purchase changes both. */
export type StoredKind = Exclude<CustomerKind, 'hold'>

export function storedKind(kind: PurseKind): PurseKind {
  return kind === 'hold' ? 'card' : kind
}
