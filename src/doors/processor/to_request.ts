import {
  type CardRequest,
  type Charge,
  type Decision,
  type Entry,
  isAdvice,
  type RequestKind,
  type StoredResponse,
} from '#domain/authorizations/request.ts'
import { isCvvOf } from '#domain/cards/pan_vault.ts'
import { responseCode } from '#doors/response_codes.ts'
import { currencyOfLetters } from '#iso8583/currencies.ts'
import { maskPan } from '#iso8583/mask.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { ProcessorMessage } from './shapes.ts'

const MICROS_PER_CENT = 10_000n

/** The equivalent ISO 8583 message types, for get_auth_details. */
const MTIS: Readonly<Record<ProcessorMessage['type'], string>> = {
  authorization: '0100',
  incremental: '0100',
  verification: '0100',
  balance: '0100',
  advice: '0120',
  reversal: '0420',
  clearing: '0220',
  refund: '0220',
  expiry: '0420',
}

const KINDS: Readonly<Record<ProcessorMessage['type'], RequestKind>> = {
  authorization: 'authorize',
  incremental: 'increment',
  verification: 'verify',
  balance: 'balance',
  advice: 'advise',
  reversal: 'reverse',
  clearing: 'capture',
  refund: 'refund',
  expiry: 'expire',
}

type RequestSource = {
  link: string
  keys: Keys
  received_at: Date
  deadline_ms: number
  /** Null if no card has the token. */
  number: CardNumber | null
}

/** A card number: its hash, and its digits where a CVV needs them. */
export type CardNumber = { hash: string; open(): string }

export function chargeOf({ amounts }: Pick<ProcessorMessage, 'amounts'>): Charge {
  const minor = BigInt(amounts.transaction)
  const is_usd = amounts.currency === 'USD'
  // Zero needs no rate.
  const needsRate = !is_usd && minor !== 0n
  const cents = amounts.billing_usd ?? (needsRate ? null : amounts.transaction)
  return {
    minor,
    currency: currencyOfLetters(amounts.currency)?.letters ?? null,
    micros: cents === null ? null : BigInt(cents) * MICROS_PER_CENT,
    fx_rate: is_usd ? null : (amounts.rate ?? null),
  }
}

export function toRequest(message: ProcessorMessage, source: RequestSource): CardRequest {
  const { link, keys, received_at, deadline_ms, number } = source
  const { verification = {}, network = {}, merchant } = message
  const cvv = verification.cvv ?? null
  const charge = chargeOf(message)
  const identity = identityOf(link, message.id)
  return {
    kind: message.decision === 'decline' ? 'advise_declined' : KINDS[message.type],
    link,
    identity,
    fingerprint: `${message.type}|${charge.minor}|${charge.currency}`,
    pan_hash: number?.hash ?? '',
    charge,
    merchant: {
      merchant_name: merchant.name,
      mcc: merchant.mcc,
      merchant_city: merchant.city ?? null,
      merchant_country: merchant.country ?? null,
      merchant_id: merchant.id ?? null,
      terminal_id: null,
    },
    entry: entryOf(message),
    expiry: verification.expiry ?? null,
    isCodeRight:
      cvv === null || number === null
        ? null
        : (card) => isCvvOf(keys, card, { pan: number.open(), cvv }),
    has_pin: false,
    is_type_supported: true,
    is_partial_ok: message.partial_ok ?? false,
    challenge_id: verification.challenge_id ?? null,
    reference: {
      transaction_id: null,
      original_identity: message.original_id ? identityOf(link, message.original_id) : null,
      original_prefix: null,
      retrieval_reference_number: network.rrn ?? null,
      authorization_code: network.auth_code ?? null,
    },
    replacement_minor:
      message.amounts.replacement === undefined ? null : BigInt(message.amounts.replacement),
    is_final: message.is_final ?? false,
    // The processor decides when a hold expires.
    is_early: message.type === 'expiry',
    network_transaction_id: network.lifecycle_id ?? null,
    settles: null,
    received_at,
    deadline_ms: isAdvice(KINDS[message.type]) ? Number.POSITIVE_INFINITY : deadline_ms,
    message: {
      mti: MTIS[message.type],
      raw: new Uint8Array(),
      fields: isoFieldsOf(message),
    },
    answer: (decision) => toResponse(MTIS[message.type], decision),
    restore: (kept_bytes) => kept_bytes,
  }
}

function entryOf({ type, entry_mode }: ProcessorMessage): Entry | null {
  if (entry_mode === undefined && isAdvice(KINDS[type])) return null
  return {
    entry_mode: entry_mode ?? 'ecommerce',
    card_present: ['chip', 'contactless', 'swipe'].includes(entry_mode ?? ''),
    wallet: null,
  }
}

/** A processor's ids have no time, so these identities are not ordered like those of networks. */
const identityOf = (link: string, id: string): string => `processor|${link}|${id}`

/** The equivalent ISO 8583 elements, masked, as JSON text. */
function isoFieldsOf({ card, amounts, merchant, network }: ProcessorMessage): string {
  const fields: Record<number, string> = {
    ...('pan' in card && { 2: maskPan(card.pan) }),
    4: String(amounts.transaction).padStart(12, '0'),
    18: merchant.mcc,
    ...(network?.rrn && { 37: network.rrn }),
    ...(network?.auth_code && { 38: network.auth_code }),
    ...(merchant.id && { 42: merchant.id }),
    49: currencyOfLetters(amounts.currency)?.numeric ?? '999',
  }
  return JSON.stringify(fields)
}

function toResponse(mti: string, decision: Decision): StoredResponse {
  const { verdict, decline_code, authorization_code, available_micros, transaction } = decision
  const is_declined = verdict === 'declined'
  const body = {
    decision: is_declined ? 'decline' : 'approve',
    approved_amount_usd:
      is_declined || transaction === null ? null : usdFromMicros(transaction.amount_micros),
    auth_code: authorization_code,
    decline_code,
    transaction_id: transaction?.id ?? null,
    available_usd: available_micros === null ? null : usdFromMicros(available_micros),
    ...(verdict === 'original_unknown' && { note: 'original_unknown' }),
  }
  const bytes = Buffer.from(JSON.stringify(body))
  const response_code = responseCode(decision, mti[2] === '2')
  return {
    mti: `${mti.slice(0, 2)}${Number(mti[2]) + 1}0`,
    fields: { ...(authorization_code !== null && { 38: authorization_code }), 39: response_code },
    response_code,
    bytes,
    kept_bytes: bytes,
  }
}
