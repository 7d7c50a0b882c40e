import { MalformedMessage } from './malformed_message.ts'

/**
 * Elements with subfields of fixed length. All subfields are strings: reading removes the trailing
 * spaces of text and keeps the leading zeros of numbers.
 */
type Subfield = readonly [name: string, length: number, pattern: RegExp, pad: 'text' | 'number']
type Values<Rows extends readonly Subfield[]> = { [Row in Rows[number] as Row[0]]: string }

const PRINTABLE = /^[ -~]*$/
const DIGITS = /^\d+$/

const acceptor_subfields = [
  ['name', 25, PRINTABLE, 'text'],
  ['city', 13, PRINTABLE, 'text'],
  // Some terminals leave it blank.
  ['country', 2, /^(?:[A-Z]{2})?$/, 'text'],
] as const

const original_subfields = [
  ['mti', 4, DIGITS, 'number'],
  ['stan', 6, DIGITS, 'number'],
  ['transmission_time', 10, DIGITS, 'number'],
  ['acquirer', 11, DIGITS, 'number'],
  ['forwarder', 11, DIGITS, 'number'],
] as const

const FEE = /^[CD\d]\d{8}$/

const replacement_subfields = [
  ['transaction_amount', 12, DIGITS, 'number'],
  ['settlement_amount', 12, DIGITS, 'number'],
  ['transaction_fee', 9, FEE, 'number'],
  ['settlement_fee', 9, FEE, 'number'],
] as const

const amount_subfields = [
  ['account_type', 2, DIGITS, 'number'],
  ['amount_type', 2, DIGITS, 'number'],
  ['currency', 3, DIGITS, 'number'],
  ['sign', 1, /^[CD]$/, 'text'],
  ['amount', 12, DIGITS, 'number'],
] as const

export type CardAcceptor = Values<typeof acceptor_subfields>
export type OriginalDataElements = Values<typeof original_subfields>
export type ReplacementAmounts = Values<typeof replacement_subfields>
export type AdditionalAmount = Values<typeof amount_subfields>

function readSubfields<Rows extends readonly Subfield[]>(
  element: number,
  rows: Rows,
  value: string,
): Values<Rows> {
  const values: Record<string, string> = {}
  let at = 0
  for (const [name, length, pattern, pad] of rows) {
    const text = value.slice(at, at + length)
    const subfield = pad === 'text' ? trimSpacesEnd(text) : text
    if (text.length < length || !pattern.test(subfield)) {
      throw new MalformedMessage(element, 'bad_subfield')
    }
    values[name] = subfield
    at += length
  }
  if (value.length > at) throw new MalformedMessage(element, 'bad_subfield')
  return values as Values<Rows>
}

/** Only spaces are padding; trimEnd would also remove tabs and line breaks. */
function trimSpacesEnd(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === ' ') end -= 1
  return text.slice(0, end)
}

function writeSubfields<Rows extends readonly Subfield[]>(
  element: number,
  rows: Rows,
  values: Values<Rows>,
): string {
  let text = ''
  for (const [name, length, pattern, pad] of rows) {
    const value = (values as Record<string, string>)[name]
    if (typeof value !== 'string') throw new MalformedMessage(element, 'bad_subfield')
    const subfield = pad === 'text' ? value.padEnd(length, ' ') : value.padStart(length, '0')
    const is_valid = pattern.test(pad === 'text' ? trimSpacesEnd(value) : subfield)
    if (subfield.length > length || !is_valid) throw new MalformedMessage(element, 'bad_subfield')
    text += subfield
  }
  return text
}

/** Element 43: card acceptor name and location. Some terminals send the country in lowercase. */
export const readCardAcceptor = (value: string): CardAcceptor =>
  readSubfields(
    43,
    acceptor_subfields,
    value.replace(/[a-z]{2}$/i, (country) => country.toUpperCase()),
  )
export const writeCardAcceptor = (acceptor: CardAcceptor): string =>
  writeSubfields(43, acceptor_subfields, acceptor)

/** Element 90: identifies the original message. Institution ids are zero-filled to 11 digits. */
export const readOriginalDataElements = (value: string): OriginalDataElements =>
  readSubfields(90, original_subfields, value)
export const writeOriginalDataElements = (original: OriginalDataElements): string =>
  writeSubfields(90, original_subfields, original)

/** Element 95: the actual amounts after a partial reversal. */
export const readReplacementAmounts = (value: string): ReplacementAmounts =>
  readSubfields(95, replacement_subfields, value)
export const writeReplacementAmounts = (amounts: ReplacementAmounts): string =>
  writeSubfields(95, replacement_subfields, amounts)

const AMOUNT_LENGTH = 20
const AMOUNTS_MAX = 6

/** Element 54: up to six amounts with account type, amount type, currency and sign. */
export function readAdditionalAmounts(value: string): AdditionalAmount[] {
  if (value.length % AMOUNT_LENGTH !== 0 || value.length > AMOUNT_LENGTH * AMOUNTS_MAX) {
    throw new MalformedMessage(54, 'bad_subfield')
  }
  const amounts: AdditionalAmount[] = []
  for (let at = 0; at < value.length; at += AMOUNT_LENGTH) {
    amounts.push(readSubfields(54, amount_subfields, value.slice(at, at + AMOUNT_LENGTH)))
  }
  return amounts
}

export function writeAdditionalAmounts(amounts: readonly AdditionalAmount[]): string {
  if (amounts.length > AMOUNTS_MAX) throw new MalformedMessage(54, 'bad_subfield')
  return amounts.map((amount) => writeSubfields(54, amount_subfields, amount)).join('')
}
