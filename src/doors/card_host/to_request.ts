import {
  type CardRequest,
  type Entry,
  type Merchant,
  type RequestKind,
  UNKNOWN_MCC,
} from '#domain/authorizations/request.ts'
import { isCvvOf, panHash } from '#domain/cards/pan_vault.ts'
import { countryOfNumber } from '#iso8583/country_numbers.ts'
import type { Link } from '#iso8583/link.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import type { Message } from '#iso8583/message.ts'
import {
  readCardAcceptor,
  readOriginalDataElements,
  readReplacementAmounts,
} from '#iso8583/subfields.ts'
import { readPrivateTags } from '#iso8583/tags.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { chargeOf } from './amounts.ts'
import { identityOf, type MessageKey, originalOf } from './identity.ts'

type Fields = Readonly<Record<number, string>>

/** Mandatory elements. */
const MANDATORY = [7, 11] as const
const MANDATORY_IN_REQUESTS = [3, 4, 7, 11, 32, 37, 49] as const
const MANDATORY_IN_PURCHASES = [...MANDATORY_IN_REQUESTS, 18, 42, 43] as const
const MANDATORY_IN_CLEARINGS = [...MANDATORY, 3, 4, 49] as const

const SUPPORTED_TYPES: ReadonlySet<string> = new Set(['00', '20', '30'])
/** Element 39 of advices that report a stand-in approval. */
const STAND_IN_APPROVALS: ReadonlySet<string> = new Set(['00', '08', '10', '11', '85'])
/** Tags of element 48 on the default link. */
const TAG_CVV = '92'
const TAG_CHALLENGE = '43'
const TAG_FINAL = '44'
const TAG_WALLET = '26'
const TAG_PARTIAL = '61'
const WALLETS: Readonly<Record<string, Entry['wallet']>> = {
  '103': 'apple_pay',
  '216': 'google_pay',
}

/** The parts of a request that are not read from the message's elements. */
export type RequestSource = Pick<
  CardRequest,
  'message' | 'answer' | 'restore' | 'received_at' | 'deadline_ms'
> & {
  link: Link
  keys: Keys
}

/**
 * Throws MalformedMessage if a mandatory element is missing or a subfield is invalid.
 *
 * The request is one literal: fields that are added later double the garbage collection of a card
 * message (bench/authorizations).
 */
export function toRequest(
  { mti, fields }: Message,
  { link, keys, received_at, deadline_ms, message, answer, restore }: RequestSource,
): CardRequest {
  const kind = kindOf(mti, fields)
  requireMandatoryElements(mti, kind, fields)
  const pan = panOf(fields)
  const pan_hash = panHash(keys, pan)
  const key = { link: link.name, pan_hash }
  const tags = tagsOf(link, fields)
  const charge = chargeOf(fields)
  const cvv = tags.get(TAG_CVV)
  const elements = fields[90] === undefined ? null : readOriginalDataElements(fields[90])
  const original = originalOf(elements, key, received_at)
  return {
    kind,
    link: link.name,
    identity: identityOf(messageKey(mti, fields, key), received_at),
    fingerprint: `${charge.minor}|${fields[49] ?? ''}|${fields[95] ?? ''}`,
    pan_hash,
    charge,
    merchant: merchantOf(fields),
    entry: saysEntry(mti, fields) ? entryOf(fields, tags) : null,
    expiry: fields[14] ?? null,
    isCodeRight: cvv === undefined ? null : (card) => isCvvOf(keys, card, { pan, cvv }),
    has_pin: fields[52] !== undefined,
    is_type_supported: SUPPORTED_TYPES.has((fields[3] ?? '').slice(0, 2)),
    is_partial_ok: tags.get(TAG_PARTIAL)?.[0] === '1',
    challenge_id: tags.get(TAG_CHALLENGE) ?? null,
    reference: {
      transaction_id: null,
      original_identity: original.original_identity,
      original_prefix: original.original_prefix,
      retrieval_reference_number: trimmed(fields[37]),
      authorization_code: trimmed(fields[38]),
    },
    replacement_minor:
      fields[95] === undefined
        ? null
        : BigInt(readReplacementAmounts(fields[95]).transaction_amount),
    is_final: tags.get(TAG_FINAL) === '1',
    is_early: false,
    network_transaction_id: trimmed(fields[63]),
    settles: null,
    received_at,
    deadline_ms: isDeclinable(mti) ? deadline_ms : Number.POSITIVE_INFINITY,
    message,
    answer,
    restore,
  }
}

function messageKey(
  mti: string,
  fields: Fields,
  { link, pan_hash }: Pick<MessageKey, 'link' | 'pan_hash'>,
): MessageKey {
  const [stan = '', transmission_time = '', acquirer = ''] = [fields[11], fields[7], fields[32]]
  return { link, mti, stan, transmission_time, acquirer, pan_hash }
}

function kindOf(mti: string, fields: Fields): RequestKind {
  const type = (fields[3] ?? '').slice(0, 2)
  switch (mti.slice(1, 3)) {
    case '10':
    case '20':
      return requestKindOf(mti, type, fields)
    case '12':
      return adviceKindOf(type, fields)
    case '22':
      return type === CREDIT ? 'refund' : 'capture'
    case '40':
    case '42':
      return 'reverse'
  }
  throw new MalformedMessage(null, 'bad_mti')
}

/** Processing codes in element 3. */
const CREDIT = '20'
const BALANCE_INQUIRY = '30'

function adviceKindOf(type: string, fields: Fields): RequestKind {
  if (!STAND_IN_APPROVALS.has(fields[39] ?? '00')) return 'advise_declined'
  return type === CREDIT || type === BALANCE_INQUIRY ? 'acknowledge' : 'advise'
}

/** Element 4 of an account verification. */
const ZERO_AMOUNT = '000000000000'

function requestKindOf(mti: string, type: string, fields: Fields): RequestKind {
  // No clearing follows a single message: what it credits, it credits now.
  if (type === CREDIT) return mti[1] === '2' ? 'refund' : 'credit'
  if (type === BALANCE_INQUIRY) return 'balance'
  if (mti[1] === '2') return 'debit'
  if (fields[4] === ZERO_AMOUNT) return 'verify'
  return fields[90] === undefined ? 'authorize' : 'increment'
}

function requireMandatoryElements(mti: string, kind: RequestKind, fields: Fields): void {
  for (const element of mandatoryElementsOf(mti, kind)) {
    if (fields[element] === undefined) throw new MalformedMessage(element, 'truncated')
  }
}

function mandatoryElementsOf(mti: string, kind: RequestKind): readonly number[] {
  if (kind === 'authorize' || kind === 'debit') return MANDATORY_IN_PURCHASES
  if (isDeclinable(mti)) return MANDATORY_IN_REQUESTS
  const isClearing = kind === 'capture' || kind === 'refund' || kind === 'advise'
  return isClearing ? MANDATORY_IN_CLEARINGS : MANDATORY
}

/** True for 0100 and 0200: advices and reversals report what has happened. */
export const isDeclinable = (mti: string): boolean =>
  mti[2] === '0' && (mti[1] === '1' || mti[1] === '2')

/** Element 2, or the digits before the separator of track 2. */
function panOf(fields: Fields): string {
  const pan = fields[2] ?? /^\d+/.exec(fields[35] ?? '')?.[0]
  if (pan === undefined) throw new MalformedMessage(2, 'truncated')
  return pan
}

function trimmed(value: string | undefined): string | null {
  const text = value?.trim() ?? ''
  return text === '' ? null : text
}

const NO_TAGS: ReadonlyMap<string, string> = new Map()

function tagsOf(link: Link, fields: Fields): ReadonlyMap<string, string> {
  if (fields[48] === undefined || link.private_tags === null) return NO_TAGS
  const tags = readPrivateTags(fields[48], link.private_tags.skip)
  return new Map(tags.map(({ tag, value }) => [tag, value]))
}

/** Element 19 is the acquirer's country, used only if element 43 has none. */
function merchantOf(fields: Fields): Merchant {
  const acceptor = fields[43] === undefined ? null : readCardAcceptor(fields[43])
  return {
    merchant_name: acceptor?.name ?? '',
    mcc: fields[18] ?? UNKNOWN_MCC,
    merchant_city: trimmed(acceptor?.city),
    merchant_country: trimmed(acceptor?.country) ?? countryOfNumber(fields[19] ?? ''),
    merchant_id: trimmed(fields[42]),
    terminal_id: trimmed(fields[41]),
  }
}

/** The first two digits of element 22. */
const ENTRY_MODES: Readonly<Record<string, Entry['entry_mode']>> = {
  '01': 'keyed',
  '02': 'swipe',
  '05': 'chip',
  '07': 'contactless',
  '10': 'credential_on_file',
  '80': 'swipe',
  '81': 'ecommerce',
  '90': 'swipe',
  '91': 'contactless',
}
const PRESENT_MODES: ReadonlySet<string> = new Set(['chip', 'contactless', 'swipe'])
/** Element 25: customer or card not present, mail or telephone order, e-commerce. */
const NOT_PRESENT: ReadonlySet<string> = new Set(['01', '05', '08', '59'])
const ECOMMERCE = '59'

const saysEntry = (mti: string, fields: Fields): boolean =>
  isDeclinable(mti) || fields[22] !== undefined || fields[25] !== undefined

function entryOf(fields: Fields, tags: ReadonlyMap<string, string>): Entry {
  const pan_entry = ENTRY_MODES[(fields[22] ?? '').slice(0, 2)] ?? 'keyed'
  const condition = fields[25] ?? '00'
  const entry_mode = pan_entry === 'keyed' && condition === ECOMMERCE ? 'ecommerce' : pan_entry
  return {
    entry_mode,
    card_present:
      PRESENT_MODES.has(entry_mode) || (entry_mode === 'keyed' && !NOT_PRESENT.has(condition)),
    wallet: WALLETS[tags.get(TAG_WALLET) ?? ''] ?? null,
  }
}
