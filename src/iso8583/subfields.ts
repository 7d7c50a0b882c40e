import { MalformedMessage } from './malformed_message.ts'

/**
 * The elements that are made of parts of fixed length. Parts are strings as the element itself is;
 * texts lose their trailing spaces when read, numbers keep their leading zeros.
 */
type Part = readonly [name: string, length: number, pattern: RegExp, pad: 'text' | 'number']
type Values<Parts extends readonly Part[]> = { [Row in Parts[number] as Row[0]]: string }

const PRINTABLE = /^[ -~]*$/
const DIGITS = /^\d+$/

const place_parts = [
  ['name', 25, PRINTABLE, 'text'],
  ['city', 13, PRINTABLE, 'text'],
  // Blank where a terminal knows no country; the reader then asks another element.
  ['country', 2, /^(?:[A-Z]{2})?$/, 'text'],
] as const

const original_parts = [
  ['mti', 4, DIGITS, 'number'],
  ['stan', 6, DIGITS, 'number'],
  ['transmitted', 10, DIGITS, 'number'],
  ['acquirer', 11, DIGITS, 'number'],
  ['forwarder', 11, DIGITS, 'number'],
] as const

const FEE = /^[CD\d]\d{8}$/

const replacement_parts = [
  ['transaction_amount', 12, DIGITS, 'number'],
  ['settlement_amount', 12, DIGITS, 'number'],
  ['transaction_fee', 9, FEE, 'number'],
  ['settlement_fee', 9, FEE, 'number'],
] as const

const amount_parts = [
  ['account_type', 2, DIGITS, 'number'],
  ['amount_type', 2, DIGITS, 'number'],
  ['currency', 3, DIGITS, 'number'],
  ['sign', 1, /^[CD]$/, 'text'],
  ['amount', 12, DIGITS, 'number'],
] as const

export type CardAcceptor = Values<typeof place_parts>
export type OriginalDataElements = Values<typeof original_parts>
export type ReplacementAmounts = Values<typeof replacement_parts>
export type AdditionalAmount = Values<typeof amount_parts>

function readParts<Parts extends readonly Part[]>(
  element: number,
  parts: Parts,
  value: string,
): Values<Parts> {
  const read: Record<string, string> = {}
  let at = 0
  for (const [name, length, pattern, pad] of parts) {
    const text = value.slice(at, at + length)
    const part = pad === 'text' ? trimmedEnd(text) : text
    if (text.length < length || !pattern.test(part)) {
      throw new MalformedMessage(element, 'bad_subfield')
    }
    read[name] = part
    at += length
  }
  if (value.length > at) throw new MalformedMessage(element, 'bad_subfield')
  return read as Values<Parts>
}

/** Only spaces are padding: trimEnd would also take tabs and line ends for it. */
function trimmedEnd(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === ' ') end -= 1
  return text.slice(0, end)
}

function writeParts<Parts extends readonly Part[]>(
  element: number,
  parts: Parts,
  values: Values<Parts>,
): string {
  let written = ''
  for (const [name, length, pattern, pad] of parts) {
    const value = (values as Record<string, string>)[name]
    if (typeof value !== 'string') throw new MalformedMessage(element, 'bad_subfield')
    const part = pad === 'text' ? value.padEnd(length, ' ') : value.padStart(length, '0')
    const is_part = pattern.test(pad === 'text' ? trimmedEnd(value) : part)
    if (part.length > length || !is_part) throw new MalformedMessage(element, 'bad_subfield')
    written += part
  }
  return written
}

/** Element 43: who took the payment and where. Some terminals send the country in lower case. */
export const readCardAcceptor = (value: string): CardAcceptor =>
  readParts(
    43,
    place_parts,
    value.replace(/[a-z]{2}$/i, (country) => country.toUpperCase()),
  )
export const writeCardAcceptor = (place: CardAcceptor): string => writeParts(43, place_parts, place)

/** Element 90: the message that is reversed. Institutions are zero-filled to eleven digits. */
export const readOriginalDataElements = (value: string): OriginalDataElements =>
  readParts(90, original_parts, value)
export const writeOriginalDataElements = (original: OriginalDataElements): string =>
  writeParts(90, original_parts, original)

/** Element 95: the amounts that stand in the place of the reversed ones. */
export const readReplacementAmounts = (value: string): ReplacementAmounts =>
  readParts(95, replacement_parts, value)
export const writeReplacementAmounts = (amounts: ReplacementAmounts): string =>
  writeParts(95, replacement_parts, amounts)

const AMOUNT_LENGTH = 20
const AMOUNTS_MAX = 6

/** Element 54: up to six amounts, each with its account, meaning, currency and sign. */
export function readAdditionalAmounts(value: string): AdditionalAmount[] {
  if (value.length % AMOUNT_LENGTH !== 0 || value.length > AMOUNT_LENGTH * AMOUNTS_MAX) {
    throw new MalformedMessage(54, 'bad_subfield')
  }
  const amounts: AdditionalAmount[] = []
  for (let at = 0; at < value.length; at += AMOUNT_LENGTH) {
    amounts.push(readParts(54, amount_parts, value.slice(at, at + AMOUNT_LENGTH)))
  }
  return amounts
}

export function writeAdditionalAmounts(amounts: readonly AdditionalAmount[]): string {
  if (amounts.length > AMOUNTS_MAX) throw new MalformedMessage(54, 'bad_subfield')
  return amounts.map((amount) => writeParts(54, amount_parts, amount)).join('')
}
