import type { CardRequest, Entry, Merchant, RequestKind } from '#domain/authorizations/request.ts'
import { isCvvOf, panHash } from '#domain/cards/pan_vault.ts'
import { countryOfNumber } from '#iso8583/country_numbers.ts'
import type { Link } from '#iso8583/link.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import type { MaskedMessage } from '#iso8583/mask.ts'
import type { Message } from '#iso8583/message.ts'
import {
  readCardAcceptor,
  readOriginalDataElements,
  readReplacementAmounts,
} from '#iso8583/subfields.ts'
import { readPrivateTags } from '#iso8583/tags.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { chargeOf } from './amounts.ts'
import { identityOf, type MessageKey, originalIdentityOf } from './identity.ts'

type Fields = Readonly<Record<number, string>>

/** Elements without which a message says too little to be decided on. */
const NEEDED = [7, 11] as const
const NEEDED_OF_QUESTIONS = [3, 4, 7, 11, 32, 37, 49] as const
const NEEDED_OF_PURCHASES = [...NEEDED_OF_QUESTIONS, 18, 42, 43] as const
const NEEDED_OF_CLEARINGS = [...NEEDED, 3, 4, 49] as const

const SUPPORTED_TYPES: ReadonlySet<string> = new Set(['00', '20', '30'])
/** A stand-in's own verdict in element 39: approved, in part, for a friend, or a good card. */
const STAND_IN_APPROVALS: ReadonlySet<string> = new Set(['00', '08', '10', '11', '85'])
/** Our own tags of element 48 on the default link, beside the network's 92 for the code. */
const TAG_CODE = '92'
const TAG_CHALLENGE = '43'
const TAG_FINAL = '44'
const TAG_WALLET = '26'
const TAG_PARTIAL = '61'
const WALLETS: Readonly<Record<string, Entry['wallet']>> = {
  '103': 'apple_pay',
  '216': 'google_pay',
}

type Given = Pick<CardRequest, 'answer' | 'restore' | 'received_at'> & {
  link: Link
  keys: Keys
  masked: MaskedMessage
}

/** Throws MalformedMessage where an element that is needed is missing or makes no sense. */
export function toRequest({ mti, fields }: Message, given: Given): CardRequest {
  const { link, keys, received_at } = given
  const kind = kindOf(mti, fields)
  requireElements(mti, kind, fields)
  const pan = panOf(fields)
  const pan_hash = panHash(keys, pan)
  const key = { link: link.name, pan_hash }
  const tags = tagsOf(link, fields)
  const charge = chargeOf(fields)
  const code = tags.get(TAG_CODE)
  return {
    kind,
    link: link.name,
    identity: identityOf(messageKey(mti, fields, key), received_at),
    fingerprint: `${charge.minor}|${fields[49] ?? ''}|${fields[95] ?? ''}`,
    pan_hash,
    charge,
    merchant: merchantOf(fields),
    entry: entryOf(fields, tags),
    expiry: fields[14] ?? null,
    isCodeRight: code === undefined ? null : (card) => isCvvOf(keys, card, { pan, cvv: code }),
    has_pin: fields[52] !== undefined,
    is_type_supported: SUPPORTED_TYPES.has((fields[3] ?? '').slice(0, 2)),
    is_partial_ok: tags.get(TAG_PARTIAL)?.[0] === '1',
    challenge_id: tags.get(TAG_CHALLENGE) ?? null,
    reference: {
      transaction_id: null,
      original_identity:
        fields[90] === undefined
          ? null
          : originalIdentityOf(readOriginalDataElements(fields[90]), key, received_at),
      retrieval_reference_number: trimmed(fields[37]),
      authorization_code: trimmed(fields[38]),
    },
    replacement_minor:
      fields[95] === undefined
        ? null
        : BigInt(readReplacementAmounts(fields[95]).transaction_amount),
    is_final: tags.get(TAG_FINAL) === '1',
    network_transaction_id: trimmed(fields[63]),
    settles: null,
    received_at,
    message: given.masked,
    answer: given.answer,
    restore: given.restore,
  }
}

function messageKey(
  mti: string,
  fields: Fields,
  { link, pan_hash }: Pick<MessageKey, 'link' | 'pan_hash'>,
): MessageKey {
  const [stan = '', transmitted = '', acquirer = ''] = [fields[11], fields[7], fields[32]]
  return { link, mti, stan, transmitted, acquirer, pan_hash }
}

function kindOf(mti: string, fields: Fields): RequestKind {
  const type = (fields[3] ?? '').slice(0, 2)
  switch (mti.slice(1, 3)) {
    case '10':
    case '20':
      return questionOf(mti, type, fields)
    case '12':
      return STAND_IN_APPROVALS.has(fields[39] ?? '00') ? 'advise' : 'advise_declined'
    case '22':
      return type === '20' ? 'refund' : 'capture'
    case '40':
    case '42':
      return 'reverse'
  }
  throw new MalformedMessage(null, 'bad_mti')
}

/** Element 4 of a message that only asks whether the card is good. */
const NOTHING = '000000000000'

function questionOf(mti: string, type: string, fields: Fields): RequestKind {
  if (type === '20') return 'credit'
  if (type === '30') return 'balance'
  if (mti[1] === '2') return 'debit'
  if (fields[4] === NOTHING) return 'verify'
  return fields[90] === undefined ? 'authorize' : 'increment'
}

function requireElements(mti: string, kind: RequestKind, fields: Fields): void {
  for (const element of neededOf(mti, kind)) {
    if (fields[element] === undefined) throw new MalformedMessage(element, 'truncated')
  }
}

function neededOf(mti: string, kind: RequestKind): readonly number[] {
  if (kind === 'authorize' || kind === 'debit') return NEEDED_OF_PURCHASES
  if (kind === 'capture' || kind === 'refund' || kind === 'advise') return NEEDED_OF_CLEARINGS
  return mti[2] === '0' && mti[1] !== '4' ? NEEDED_OF_QUESTIONS : NEEDED
}

/** Element 2, or the number in front of the track's separator. */
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

/** Element 19 is the acquirer's country, across borders not the merchant's: a last resort. */
function merchantOf(fields: Fields): Merchant {
  const place = fields[43] === undefined ? null : readCardAcceptor(fields[43])
  return {
    merchant_name: place?.name ?? '',
    mcc: fields[18] ?? '0000',
    merchant_city: trimmed(place?.city),
    merchant_country: trimmed(place?.country) ?? countryOfNumber(fields[19] ?? ''),
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
/** Element 25: the customer, or the card, is not there; by mail; online. */
const AWAY: ReadonlySet<string> = new Set(['01', '05', '08', '59'])
const ONLINE = '59'

function entryOf(fields: Fields, tags: ReadonlyMap<string, string>): Entry {
  const read = ENTRY_MODES[(fields[22] ?? '').slice(0, 2)] ?? 'keyed'
  const condition = fields[25] ?? '00'
  const entry_mode = read === 'keyed' && condition === ONLINE ? 'ecommerce' : read
  const isThere = PRESENT_MODES.has(entry_mode) || (entry_mode === 'keyed' && !AWAY.has(condition))
  return { entry_mode, card_present: isThere, wallet: WALLETS[tags.get(TAG_WALLET) ?? ''] ?? null }
}
