import { type DeclineCode, declineLabel } from '#contract/decline.ts'
import type { NewEvent } from '#domain/context/context.ts'
import {
  merchantText,
  type TransactionRow,
  transactionView,
} from '#domain/transactions/transaction.ts'
import { amountText } from '#iso8583/currencies.ts'
import { idTimeMs } from '#kernel/id.ts'
import { groupThousands, type Micros } from '#kernel/money.ts'
import type { BatchState, RequestOnCard } from './batch_state.ts'
import {
  type CardRequest,
  type Decision,
  type Entry,
  UNKNOWN_CURRENCY,
  UNKNOWN_MCC,
} from './request.ts'
import { dayOf } from './spending.ts'
import { challengeFor, threeDsResult } from './three_ds.ts'

type TransactionFields = Pick<TransactionRow, 'type' | 'status'> & Partial<TransactionRow>

/**
 * Records a new transaction with the details of its message. Clearings and reversals may leave out
 * the merchant and the way the card was read: these are then those of the purchase.
 */
export function record(
  state: BatchState,
  { card, request }: RequestOnCard,
  fields: TransactionFields,
  purchase: TransactionRow | null = null,
): TransactionRow {
  const row = blankRow(state, { card, request: withDetailsOf(purchase, request) }, fields)
  // Assigned into a complete row: all rows then share one hidden class, which keeps them fast.
  Object.assign(row, fields)
  state.made.push(row)
  if (row.created_at !== state.now) state.made_later.add(row)
  state.purchases.add(row)
  return row
}

function withDetailsOf(purchase: TransactionRow | null, request: CardRequest): CardRequest {
  if (purchase === null) return request
  return { ...withMerchantOf(purchase, request), entry: request.entry ?? purchase }
}

/** A clearing may leave out elements of the merchant; those of its purchase apply. */
export function withMerchantOf(purchase: TransactionRow | null, request: CardRequest): CardRequest {
  if (purchase === null) return request
  const { merchant } = request
  const isNamed = merchant.merchant_name !== ''
  const { merchant_name, merchant_city, merchant_country } = isNamed ? merchant : purchase
  return {
    ...request,
    merchant: {
      merchant_name,
      merchant_city,
      merchant_country,
      mcc: merchant.mcc === UNKNOWN_MCC ? purchase.mcc : merchant.mcc,
      merchant_id: merchant.merchant_id ?? purchase.merchant_id,
      terminal_id: merchant.terminal_id ?? purchase.terminal_id,
    },
  }
}

/**
 * The rows of a purchase sort in the order they were booked: refunds go to the oldest capture. The
 * node that booked an earlier row may have a faster clock, so a new row is later than that one.
 */
function stampRow(
  state: BatchState,
  { card, request }: RequestOnCard,
  authorization_id: string | null,
): { id: string; created_at: Date } {
  const id = state.newId('txn')
  const newest = state.purchases.newestOf(card, request, authorization_id)
  if (newest === null || newest < id) return { id, created_at: state.now }
  const created_at = new Date(idTimeMs(newest) + 1)
  // A row is made on the day it counts on, so it is not moved over midnight.
  if (dayOf(created_at) > card.spent.day) return { id, created_at: state.now }
  return { id: state.newId('txn', created_at), created_at }
}

const UNKNOWN_ENTRY: Entry = { entry_mode: 'keyed', card_present: false, wallet: null }

function blankRow(
  state: BatchState,
  { card, request }: RequestOnCard,
  { type, status, authorization_id }: TransactionFields,
): TransactionRow {
  const { charge, merchant, reference } = request
  const entry = request.entry ?? UNKNOWN_ENTRY
  const isAsked = type === 'authorization' || type === 'decline'
  const challenge = isAsked ? challengeFor(state, card, request) : null
  const { id, created_at } = stampRow(state, { card, request }, authorization_id ?? null)
  return {
    account_id: card.account_id,
    id,
    card_id: card.id,
    type,
    status,
    authorization_id: null,
    amount_minor: charge.minor,
    currency: charge.currency ?? UNKNOWN_CURRENCY,
    amount_micros: charge.micros ?? 0n,
    fx_rate: charge.fx_rate,
    fee_micros: 0n,
    merchant_name: merchant.merchant_name,
    mcc: merchant.mcc,
    merchant_city: merchant.merchant_city,
    merchant_country: merchant.merchant_country,
    merchant_id: merchant.merchant_id,
    terminal_id: merchant.terminal_id,
    open_micros: 0n,
    held_micros: 0n,
    captured_micros: 0n,
    counted_day: null,
    counted_day_micros: null,
    counted_month_micros: null,
    refunded_micros: 0n,
    decline_code: null,
    failed_rules: [],
    card_present: entry.card_present,
    entry_mode: entry.entry_mode,
    wallet: entry.wallet,
    three_ds_result: threeDsResult(challenge, request),
    three_ds_challenge_id: challenge?.id ?? null,
    network: card.brand,
    network_transaction_id: request.network_transaction_id,
    retrieval_reference_number: reference.retrieval_reference_number,
    authorization_code: null,
    is_single_message: false,
    is_stand_in: false,
    is_forced: false,
    message_identity: request.message === null ? null : (request.settles ?? request.identity),
    dispute_id: null,
    version: 1n,
    created_at,
    updated_at: created_at,
    settled_at: null,
    expires_at: null,
  }
}

type EventName =
  | 'authorized'
  | 'captured'
  | 'refunded'
  | 'refund_reversed'
  | 'declined'
  | 'adjusted'
  | 'reversed'
  | 'expired'

const ACTIVITY_ONLY: ReadonlySet<EventName> = new Set([
  'refund_reversed',
  'adjusted',
  'reversed',
  'expired',
])

type Headline = (amount: string, merchant: string, row: TransactionRow) => string

/** Activity messages. Emails use them as subjects, so the amount and merchant come first. */
const headlines: Readonly<Record<EventName, Headline>> = {
  authorized: (amount, merchant) => `Approved: ${amount} at ${merchant}.`,
  captured: (amount, merchant) => `Charged: ${amount} at ${merchant}.`,
  refunded: (amount, merchant) => `Refunded: ${amount} from ${merchant}.`,
  refund_reversed: (amount, merchant) => `Refund reversed: ${amount} from ${merchant}.`,
  declined: (amount, merchant, { decline_code }) =>
    `Declined: ${amount} at ${merchant} (${declineLabel(decline_code ?? '')}).`,
  adjusted: (amount, merchant) => `Amount changed: ${amount} at ${merchant}.`,
  reversed: (amount, merchant) => `Canceled by the merchant: ${amount} at ${merchant}.`,
  expired: (amount, merchant) => `Hold released: ${amount} at ${merchant} was never charged.`,
}

/**
 * Changes of a hold are activity only; webhooks see them in the authorization. `part_micros` is the
 * amount of an event about a part of the transaction.
 */
export function emitTransactionEvent(
  state: BatchState,
  row: TransactionRow,
  name: EventName,
  part_micros = row.amount_micros,
): void {
  const text = groupThousands(amountText(minorOfPart(row, part_micros), row.currency))
  const amount = row.currency === 'USD' ? `$${text}` : `${text} ${row.currency}`
  const event: NewEvent = {
    type: `transaction.${name}`,
    message: headlines[name](amount, merchantText(row), row),
    severity: name === 'declined' ? 'error' : 'info',
    resource: { type: 'transaction', id: row.id },
    card_id: row.card_id,
    amount_micros: part_micros,
    object: ACTIVITY_ONLY.has(name) ? null : transactionView(row),
  }
  state.events.push({ account_id: row.account_id, event })
}

/** A part of the transaction in the merchant's currency. */
export function minorOfPart(
  { amount_minor, amount_micros }: TransactionRow,
  part_micros: Micros,
): bigint {
  if (part_micros === amount_micros) return amount_minor
  return amount_micros === 0n ? 0n : (amount_minor * part_micros) / amount_micros
}

type DecisionFields = Partial<Omit<Decision, 'verdict'>>

export function decision(verdict: Decision['verdict'], fields: DecisionFields = {}): Decision {
  return {
    verdict,
    decline_code: fields.decline_code ?? null,
    is_code_right: fields.is_code_right ?? null,
    authorization_code: fields.authorization_code ?? null,
    part: fields.part ?? null,
    network: fields.network ?? null,
    available_micros: fields.available_micros ?? null,
    transaction: fields.transaction ?? null,
  }
}

export function declined(decline_code: DeclineCode, fields: DecisionFields = {}): Decision {
  return decision('declined', { decline_code, ...fields })
}
