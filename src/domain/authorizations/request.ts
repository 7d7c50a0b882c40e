import type { DeclineCode } from '#contract/decline.ts'
import type { CardRow } from '#domain/cards/card.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'

/**
 * A card message without its protocol. Doors translate into this and back.
 *
 * Requests can be declined: authorize, increment, verify, balance, credit, debit. Advices cannot:
 * they report something that has already happened.
 */
export type RequestKind =
  | 'authorize'
  /** Adds to an approved authorization. */
  | 'increment'
  /** A zero-amount check that the card is valid. */
  | 'verify'
  | 'balance'
  /** An announced credit; nothing moves before its clearing. */
  | 'credit'
  /** A single-message purchase: authorization and capture in one. */
  | 'debit'
  /** The network approved in stand-in, or sends the final amount of a purchase. */
  | 'advise'
  | 'advise_declined'
  /** An advice that moves nothing: the network approved a credit or a balance inquiry. */
  | 'acknowledge'
  | 'capture'
  | 'refund'
  | 'reverse'
  /** Internal: the hold was not captured within its lifetime. */
  | 'expire'

const ADVICE_KINDS: ReadonlySet<RequestKind> = new Set([
  'advise',
  'advise_declined',
  'acknowledge',
  'capture',
  'refund',
  'reverse',
  'expire',
])

export const isAdvice = (kind: RequestKind): boolean => ADVICE_KINDS.has(kind)

/**
 * From the receipt of a message to its response: networks and processors time out after two seconds
 * or more.
 */
export const RESPONSE_MAX_MS = 1_500

/** Stored as the currency of an amount whose currency is unknown. */
export const UNKNOWN_CURRENCY = '???'

/** Stored if a message has no merchant category. */
export const UNKNOWN_MCC = '0000'

export type Charge = {
  minor: bigint
  /** ISO 4217 letters; null for an unknown currency. */
  currency: string | null
  /** Null if the message has no USD amount. */
  micros: Micros | null
  fx_rate: string | null
}

export type Merchant = Pick<
  TransactionRow,
  'merchant_name' | 'mcc' | 'merchant_city' | 'merchant_country' | 'merchant_id' | 'terminal_id'
>

/** The way the merchant read the card. */
export type Entry = Pick<TransactionRow, 'card_present' | 'entry_mode' | 'wallet'>

/** The ways a message names its purchase. The first that finds one wins. */
export type PurchaseReference = {
  transaction_id: string | null
  /** The identity of the message that is reversed, captured or refunded. */
  original_identity: string | null
  /**
   * The beginning of that identity, up to the acquirer: peers often write it differently in the
   * two messages. Null if the identity has none.
   */
  original_prefix: string | null
  retrieval_reference_number: string | null
  authorization_code: string | null
}

/** A masked message as it is stored. */
export type StoredMessage = {
  mti: string
  /** The bytes of a card link; empty for a processor. */
  raw: Uint8Array
  /** A processor's elements as JSON. Null for a card link, whose elements are in the bytes. */
  fields: string | null
}

/** A response as it is sent and as it is stored. */
export type StoredResponse = {
  mti: string
  /** A processor's elements. Null for a card link, whose elements are in the bytes. */
  fields: Readonly<Record<number, string>> | null
  response_code: string
  bytes: Uint8Array
  /** The same bytes without the card number, enough to send the response again. */
  kept_bytes: Uint8Array
}

/** The inputs of a CVV besides the card number. */
type PrintedCard = Pick<CardRow, 'brand' | 'exp_month' | 'exp_year'>

export type CardRequest = {
  kind: RequestKind
  link: string
  /** Equal for a message and its repeats. It begins with the message's own time. */
  identity: string
  /** A repeat must have the same. */
  fingerprint: string
  pan_hash: string
  charge: Charge
  merchant: Merchant
  /** Null for an advice that does not say it. */
  entry: Entry | null
  /** YYMM as the merchant sent it. */
  expiry: string | null
  /** Checks the CVV the merchant sent; null if it sent none. */
  isCodeRight: ((card: PrintedCard) => boolean) | null
  has_pin: boolean
  is_type_supported: boolean
  /** The terminal supports partial approvals. */
  is_partial_ok: boolean
  challenge_id: string | null
  reference: PurchaseReference
  /** The purchase's new amount after a partial reversal. */
  replacement_minor: bigint | null
  /** The last capture of its purchase: the rest of the hold is released. */
  is_final: boolean
  /** An expiry that does not wait for the end of the hold's lifetime. */
  is_early: boolean
  network_transaction_id: string | null
  /** For a clearing that awaited an operator: the identity of its message. */
  settles: string | null
  received_at: Date
  /**
   * By the monotonic clock. Later, a request is not decided: its door has declined it. Infinity for
   * messages that are never declined.
   */
  deadline_ms: number
  /** Null for internal requests. */
  message: StoredMessage | null
  answer(decision: Decision): StoredResponse
  /** Rebuilds a stored response; the repeated message supplies the card number. */
  restore(kept_bytes: Uint8Array): Uint8Array
}

/** True for a request, false for an advice or a task: those are never declined. */
export const canBeDeclined = ({ deadline_ms }: Pick<CardRequest, 'deadline_ms'>): boolean =>
  deadline_ms < Number.POSITIVE_INFINITY

export type Decision = {
  verdict:
    | 'approved'
    | 'declined'
    /** An accepted advice. */
    | 'noted'
    /** A reversal of an unknown message. */
    | 'original_unknown'
    /** A reversal of a captured purchase: only a refund can return it. */
    | 'no_action'
  decline_code: DeclineCode | null
  /** Null if no CVV was sent or it was not evaluated. */
  is_code_right: boolean | null
  authorization_code: string | null
  /** The approved part of a partial approval. */
  part: Pick<Charge, 'minor' | 'micros'> | null
  network: TransactionRow['network'] | null
  /** The available balance, for balance inquiries. */
  available_micros: Micros | null
  transaction: TransactionRow | null
}

/** A response, and whether it repeats an earlier one. */
export type EngineResponse = { answer: Uint8Array; is_repeat: boolean; decision: Decision | null }
