import type { Micros } from './amounts.ts'

/**
 * Everything that can happen to Florin, as the model sees it. Accounts, cards, top-ups, withdrawals
 * and disputes have names that the caller chooses; a driver maps them to the service's ids. Amounts
 * are whole micro-dollars.
 */
export type Command = OwnerCommand | CardMessage | MoneyCommand | OperatorCommand

/** One command for each name, so that a name selects its fields. */
type Op<Name extends string, Fields> = Name extends string ? { op: Name } & Fields : never

type OfAccount = {
  account: string
  /** Only for calls of the owner: a repeat with the same key gets the first response. */
  idempotency_key?: string
}
type OfCard = OfAccount & { card: string }
/** The app that makes the call; absent: the owner. */
type OfAgent = { agent?: string }

export type Limits = {
  per_transaction: Micros | null
  daily: Micros | null
  monthly: Micros | null
}
export type Rules = { allow: readonly string[] | null; deny: readonly string[] | null }
export type BudgetPeriod = 'day' | 'month' | 'total'
/** Calls above `ask_above` need an approval, whatever is left. */
export type Budget = { amount: Micros; period: BudgetPeriod; ask_above: Micros | null }
export type Actor = 'owner' | 'agent' | 'admin'

export type OwnerCommand =
  | Op<'create_account', OfAccount>
  | Op<'issue_card', OfCard & OfAgent & NewCard>
  | Op<'load_card', OfCard & OfAgent & { amount: Micros }>
  | Op<'unload_card', OfCard & OfAgent & { amount?: Micros }>
  | Op<'freeze_card' | 'unfreeze_card' | 'cancel_card', OfCard & { by?: Actor }>
  | Op<'replace_card', OfCard & { replacement: string; expires?: string }>
  | Op<'set_card_limits', OfCard & { limits: Partial<Limits> }>
  | Op<'set_mcc_rules' | 'set_card_geo', OfCard & { rules: Partial<Rules> }>
  /** The owner gives an app a budget. */
  | Op<'grant_budget', OfAccount & { agent: string; budget: Budget }>
  /** About the latest approval that the app asked for with this call. */
  | Op<
      'decide_approval',
      OfAccount & { agent: string; call: string; decision: 'approved' | 'declined' }
    >

type NewCard = {
  load?: Micros
  limits?: Partial<Limits>
  mcc?: Partial<Rules>
  geo?: Partial<Rules>
  /** `YYYY-MM`; the model needs it only to decline with card_expired. */
  expires?: string
  usage?: CardUsage
  lock?: MerchantLock
  /** Purchases decline after this time. */
  valid_until?: number
}

export type CardUsage = 'reusable' | 'single_use' | 'merchant_locked'
export type MerchantLock = Pick<Merchant, 'name' | 'id'>

/** `micros` is null if the message has no USD amount; `currency` is null if it is unknown. */
export type Charge = { minor: bigint; currency: string | null; micros: Micros | null }

export type Merchant = { name: string; id: string | null; mcc: string; country: string | null }

export type EntryMode =
  | 'chip'
  | 'contactless'
  | 'swipe'
  | 'keyed'
  | 'ecommerce'
  | 'credential_on_file'

type OfMessage = OfCard & {
  /** Identifies the message; a repeat has the same. */
  message: string
  /** The retrieval reference number (DE 37), shared by all messages of a purchase. */
  rrn: string | null
  /** The message whose approval code (DE 38) this one carries. */
  code_of?: string
}

/** A request that can be declined. */
export type CardRequest = Op<
  'authorize' | 'increment' | 'debit' | 'verify' | 'balance' | 'credit',
  OfMessage & {
    charge: Charge
    merchant: Merchant
    entry_mode: EntryMode
    /** The expiry date and CVV that the merchant sent; absent: none. */
    expiry?: 'right' | 'wrong'
    code?: 'right' | 'wrong'
    has_pin?: boolean
    is_type_unsupported?: boolean
    is_partial_ok?: boolean
    challenge?: string
    /** For an increment: the message of the purchase that it adds to. */
    original?: string
  }
>

/** A message about something that has happened; it cannot be declined. */
export type CardAdvice = Op<
  'advise' | 'advise_declined' | 'capture' | 'refund',
  OfMessage & {
    charge: Charge
    /** Needed for a stand-in approval, which may lock a card to it. */
    merchant?: Merchant
    /** The message in DE 90 of a capture or a refund. */
    original?: string
    /** The last capture of its purchase: the rest of the hold is released. */
    is_final?: boolean
  }
>

export type CardReversal = Op<
  'reverse',
  OfMessage & {
    /** The message that it reverses. */
    original: string
    /** The purchase's new amount in the merchant's currency; null reverses all of it. */
    replacement: bigint | null
  }
>

export type CardMessage = CardRequest | CardAdvice | CardReversal

type OfTopup = OfAccount & { topup: string }

export type MoneyCommand =
  | Op<'create_topup', OfTopup & { amount: Micros }>
  | Op<'cancel_topup' | 'expire_topup', OfTopup>
  /** The chain shows a transfer; `at` is the time of its block. */
  | Op<'see_transfer', OfTopup & { transfer: string; amount: Micros; at?: number }>
  /** A transfer that was seen is final. */
  | Op<'settle_transfer', OfTopup & { transfer: string; is_blocked?: boolean }>
  /** A reorganization removed a transfer that was not final. */
  | Op<'lose_transfer', OfTopup & { transfer: string }>
  /** An operator credits a transfer that is held. */
  | Op<'release_transfer', OfTopup & { transfer: string }>
  | Op<'withdraw', OfAccount & OfAgent & { withdrawal: string; amount: Micros }>
  | Op<
      'broadcast_withdrawal' | 'complete_withdrawal' | 'fail_withdrawal',
      OfAccount & { withdrawal: string }
    >
  /** Names the capture by its message. */
  | Op<'file_dispute', OfAccount & { dispute: string; capture: string; amount?: Micros }>
  /** An operator converts a clearing that had no USD amount, or approves a refund. */
  | Op<'book_clearing', OfAccount & { message: string; micros: Micros }>
  /**
   * The hold of an authorization was not captured within seven days, or an early expiry does not
   * wait for that. Named by its message.
   */
  | Op<'expire_authorization', OfAccount & { message: string; is_early: boolean }>

export type Rail = 'topups' | 'withdrawals' | 'issuing' | 'authorizations'

type OperatorCommand =
  | Op<'answer_dispute', OfAccount & { dispute: string }>
  | Op<'close_dispute', OfAccount & { dispute: string; outcome: 'won' | 'lost' }>
  | Op<'suspend_account' | 'reinstate_account', OfAccount>
  /** A 3-D Secure challenge of a card, and the holder's decision. */
  | Op<'open_challenge', OfCard & NewChallenge>
  | Op<
      'decide_challenge',
      OfAccount & { challenge: string; decision: 'approved' | 'declined' | 'expired' }
    >

type NewChallenge = {
  challenge: string
  charge: Pick<Charge, 'minor' | 'currency'>
  merchant: Pick<Merchant, 'name' | 'id'>
}

/**
 * The response that the contract demands.
 *
 * - `ok`: a 2xx; `amount` is the amount moved, where one moved.
 * - `refused`: an error of the REST API; `code` is its error code.
 * - `approved`: `amount` is the approved USD amount; `minor` only for a partial approval,
 *   `available` only for a balance inquiry.
 * - `declined`: `code` and all `failed_rules`.
 * - `accepted`: an advice; the network always gets 00.
 * - `original_unknown`: a reversal of a message that never came (0410: 25, 0430: 00).
 * - `no_action`: a reversal of a captured purchase (0410: 21, 0430: 00).
 */
export type Outcome =
  | { result: 'ok'; amount?: Micros }
  | { result: 'refused'; code: string }
  | {
      result: 'approved'
      amount: Micros
      minor?: bigint
      is_code_right: boolean | null
      available?: Micros
    }
  | {
      result: 'declined'
      code: string
      failed_rules: readonly string[]
      is_code_right: boolean | null
    }
  | { result: 'accepted' | 'original_unknown' | 'no_action' }
