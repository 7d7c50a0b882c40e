import type { OutgoingMessage } from '#iso8583/message.ts'
import { writeOriginalDataElements, writeReplacementAmounts } from '#iso8583/subfields.ts'
import { writePrivateTags } from '#iso8583/tags.ts'
import type { CardMessage, Charge, Merchant } from '#test/simulation/model/commands.ts'
import type { HolderCard } from './holder.ts'

const ACQUIRER = '400001'
const CURRENCIES: Readonly<Record<string, string>> = {
  USD: '840',
  EUR: '978',
  GBP: '826',
  JPY: '392',
}
const COUNTRIES: Readonly<Record<string, string>> = { US: '840', DE: '276', FR: '250', JP: '392' }
const ENTRIES = {
  chip: ['051', '00'],
  contactless: ['071', '00'],
  swipe: ['901', '00'],
  keyed: ['010', '01'],
  ecommerce: ['810', '59'],
  credential_on_file: ['100', '01'],
} as const

let trace_number = 0

/** Trace number, times and date of a new message, by the service's clock. */
function stamp(now: Date): Record<number, string> {
  trace_number = (trace_number + 1) % 1_000_000
  const digits = now.toISOString().replace(/\D/g, '')
  return {
    7: digits.slice(4, 14),
    11: String(trace_number).padStart(6, '0'),
    12: digits.slice(8, 14),
    13: digits.slice(4, 8),
  }
}

type WireOptions = {
  card: HolderCard
  now: Date
  /** The wire message that the command names as its original. */
  original?: OutgoingMessage | undefined
  /** 0400 instead of 0420. */
  isReversalRequest?: boolean
}

/** The ISO 8583 message of a command. */
export function wireOf(command: CardMessage, options: WireOptions): OutgoingMessage {
  const { card, now, original } = options
  const fields: Record<number, string | undefined> = {
    2: card.pan,
    3: processingCode(command),
    ...stamp(now),
    14: card.expiry,
    32: ACQUIRER,
    37: command.rrn ?? undefined,
    41: 'TERMINAL',
    ...(original !== undefined && { 90: originalElements(original) }),
    ...elementsOf(command, options),
  }
  const sent = Object.entries(fields).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  return {
    mti: mtiOf(command, options.isReversalRequest ?? false),
    fields: Object.fromEntries(sent),
  }
}

function mtiOf({ op }: CardMessage, isReversalRequest: boolean): string {
  switch (op) {
    case 'debit':
      return '0200'
    case 'advise':
    case 'advise_declined':
      return '0120'
    case 'capture':
    case 'refund':
      return '0220'
    case 'reverse':
      return isReversalRequest ? '0400' : '0420'
    default:
      return '0100'
  }
}

function processingCode(command: CardMessage): string {
  if (command.op === 'refund' || command.op === 'credit') return '200000'
  if (command.op === 'balance') return '300000'
  return 'is_type_unsupported' in command && command.is_type_unsupported ? '010000' : '000000'
}

const SHOP: Merchant = { name: 'Shop', id: 'MERCHANT0000001', mcc: '5732', country: 'US' }

function elementsOf(
  command: CardMessage,
  { card, original }: WireOptions,
): Record<number, string | undefined> {
  if (command.op === 'reverse') return reversalElements(command.replacement, original)
  const amounts = amountElements(command.charge)
  if (!('entry_mode' in command)) {
    const tags = command.op === 'capture' && command.is_final ? [{ tag: '44', value: '1' }] : []
    return {
      ...amounts,
      ...merchantElements(command.merchant ?? SHOP),
      ...(command.op === 'advise_declined' && { 39: '05' }),
      ...(tags.length > 0 && { 48: writePrivateTags(tags) }),
    }
  }
  const [entry, condition] = ENTRIES[command.entry_mode]
  const wrong_cvv = card.cvv === '000' ? '111' : '000'
  const tags = [
    ...(command.challenge === undefined ? [] : [{ tag: '43', value: command.challenge }]),
    ...(command.is_partial_ok ? [{ tag: '61', value: '1' }] : []),
    ...(command.code === undefined
      ? []
      : [{ tag: '92', value: command.code === 'right' ? card.cvv : wrong_cvv }]),
  ]
  return {
    ...amounts,
    ...merchantElements(command.merchant),
    14: expiryElement(card, command.expiry),
    22: entry,
    25: condition,
    ...(command.has_pin && { 52: '0123456789ABCDEF' }),
    ...(tags.length > 0 && { 48: writePrivateTags(tags) }),
  }
}

function expiryElement({ expiry }: HolderCard, sent: 'right' | 'wrong' | undefined) {
  if (sent === undefined) return undefined
  return sent === 'right' ? expiry : '9912'
}

const padded = (amount: bigint): string => amount.toString().padStart(12, '0')

function amountElements({ minor, currency, micros }: Charge): Record<number, string | undefined> {
  const elements = { 4: padded(minor), 49: CURRENCIES[currency ?? 'USD'] ?? '840' }
  if (currency === 'USD' || micros === null) return elements
  return { ...elements, 6: padded(micros / 10_000n), 51: '840' }
}

function merchantElements({
  name,
  id,
  mcc,
  country,
}: Merchant): Record<number, string | undefined> {
  return {
    18: mcc,
    19: COUNTRIES[country ?? 'US'] ?? '840',
    42: (id ?? '').padEnd(15),
    43: `${name.padEnd(25)}${'City'.padEnd(13)}${country ?? 'US'}`,
  }
}

function reversalElements(
  replacement: bigint | null,
  original: OutgoingMessage | undefined,
): Record<number, string | undefined> {
  const { 4: amount, 49: currency } = original?.fields ?? {}
  const elements = { 4: amount, 49: currency }
  if (replacement === null) return elements
  const amounts = writeReplacementAmounts({
    transaction_amount: replacement.toString(),
    settlement_amount: '0',
    transaction_fee: '0',
    settlement_fee: '0',
  })
  return { ...elements, 95: amounts }
}

function originalElements({ mti, fields }: OutgoingMessage): string {
  return writeOriginalDataElements({
    mti,
    stan: fields[11] ?? '0',
    transmission_time: fields[7] ?? '0',
    acquirer: fields[32] ?? '0',
    forwarder: '0',
  })
}
