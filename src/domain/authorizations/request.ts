import type { DeclineCode } from '#contract/decline.ts'
import type { CardRow } from '#domain/cards/card.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'

/**
 * What a card network asks or tells, in the programme's words. Doors translate into this and back;
 * nothing of their protocols comes further than here.
 *
 * Questions may be declined: authorize, increment, verify, balance, credit, debit. Facts never
 * are: whatever is wrong with the card, they have happened.
 */
export type RequestKind =
  | 'authorize'
  /** More for a purchase that was approved before. */
  | 'increment'
  /** An amount of zero: is this card good? */
  | 'verify'
  | 'balance'
  /** Money to come to the card; nothing moves before its clearing. */
  | 'credit'
  /** A purchase that is approved and taken by one message. */
  | 'debit'
  /** The network approved in our place; or says what the purchase came to. */
  | 'advise'
  | 'advise_declined'
  | 'capture'
  | 'refund'
  | 'reverse'
  /** Nobody has come for it: our own word, when the hold has lived long enough. */
  | 'expire'

const FACTS: ReadonlySet<RequestKind> = new Set([
  'advise',
  'advise_declined',
  'capture',
  'refund',
  'reverse',
  'expire',
])

export const isFact = (kind: RequestKind): boolean => FACTS.has(kind)

export type Charge = {
  minor: bigint
  /** Letters, or null for a currency that nobody knows. */
  currency: string | null
  /** Null where the message does not say what it is in dollars. */
  micros: Micros | null
  fx_rate: string | null
}

export type Merchant = Pick<
  TransactionRow,
  'merchant_name' | 'mcc' | 'merchant_city' | 'merchant_country' | 'merchant_id' | 'terminal_id'
>

/** How the number came to the merchant. */
export type Entry = Pick<TransactionRow, 'card_present' | 'entry_mode' | 'wallet'>

/** By what a message names the purchase it belongs to; the first that finds one decides. */
export type PurchaseReference = {
  transaction_id: string | null
  /** The identity of the message that is reversed, captured or refunded. */
  original_identity: string | null
  retrieval_reference_number: string | null
  authorization_code: string | null
}

/** A message as it may be kept: masked before it gets here. */
export type KeptMessage = { mti: string; bitmap: string; fields: string; raw: Uint8Array }

/** What a door sends back, and what of it is kept. */
export type KeptAnswer = {
  mti: string
  /** What it says beyond what it repeats of the message. */
  fields: Readonly<Record<number, string>>
  response_code: string
  bytes: Uint8Array
  /** The same bytes without the card number: what is stored, and enough to say it all again. */
  kept_bytes: Uint8Array
}

/** What a security code is computed from, besides the number. */
export type PrintedCard = Pick<CardRow, 'brand' | 'exp_month' | 'exp_year'>

export type CardRequest = {
  kind: RequestKind
  link: string
  /** What makes it the same message. It begins with the message's own time. */
  identity: string
  /** What a repeat must say again. */
  fingerprint: string
  pan_hash: string
  charge: Charge
  merchant: Merchant
  entry: Entry
  /** Year and month, four digits, as the merchant gave them. */
  expiry: string | null
  /** Whether the code that the merchant gave is the card's; null where none was given. */
  isCodeRight: ((card: PrintedCard) => boolean) | null
  has_pin: boolean
  is_type_supported: boolean
  /** The terminal can take a part of the amount and let its customer pay the rest otherwise. */
  is_partial_ok: boolean
  challenge_id: string | null
  reference: PurchaseReference
  /** Of a partial reversal: what the purchase comes to now. */
  replacement_minor: bigint | null
  /** The last capture of its purchase: what is still held is given back. */
  is_final: boolean
  network_transaction_id: string | null
  /** Of a clearing that waited for a person: the identity of the message it came by. */
  settles: string | null
  received_at: Date
  /** Null for what is no message. */
  message: KeptMessage | null
  answer(decision: Decision): KeptAnswer
  /** What was kept of an answer as it was sent: the repeat itself brings the number along. */
  restore(kept_bytes: Uint8Array): Uint8Array
}

export type Decision = {
  verdict:
    | 'approved'
    | 'declined'
    /** A fact that was taken note of. */
    | 'noted'
    /** A reversal of something that never came here. */
    | 'original_unknown'
    /** A reversal of what was captured: only a refund can give it back. */
    | 'no_action'
  decline_code: DeclineCode | null
  /** Whether the security code was right; null where none was given or it was not evaluated. */
  is_code_right: boolean | null
  authorization_code: string | null
  /** Of a purchase that was approved in part: that part, as the message gives its amounts. */
  part: Pick<Charge, 'minor' | 'micros'> | null
  network: TransactionRow['network'] | null
  /** What the card can spend now, where that was asked. */
  available_micros: Micros | null
  transaction: TransactionRow | null
}

/** An answer, and whether it is the first of its message. */
export type Answered = { answer: Uint8Array; is_repeat: boolean; decision: Decision | null }
