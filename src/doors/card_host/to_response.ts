import type { Decision, StoredResponse } from '#domain/authorizations/request.ts'
import { elementsOffset } from '#iso8583/bitmap.ts'
import { currencyOfLetters } from '#iso8583/currencies.ts'
import { encodedSizeOf, type Link } from '#iso8583/link.ts'
import { encodeResponse, type Message } from '#iso8583/message.ts'
import { writeAdditionalAmounts } from '#iso8583/subfields.ts'
import { writeElement } from '#iso8583/write_element.ts'
import type { Micros } from '#kernel/money.ts'
import { responseCode } from './response_codes.ts'

/** What an answer repeats, so that the peer can tell which message it belongs to. */
const ECHOED_ELEMENTS = [2, 3, 4, 5, 6, 7, 11, 15, 19, 25, 32, 33, 37, 41, 42, 49, 51, 62, 63]
/** Those among them that may say anything at all. */
const FREE_TEXTS = [62, 63]

const tableOf = (elements: readonly number[]): readonly boolean[] =>
  Array.from({ length: 65 }, (_, element) => elements.includes(element))
export const ECHOED = tableOf(ECHOED_ELEMENTS)

/** The answer's type: the third digit counts on, and the digit of a repeat goes. */
export function responseMti(mti: string): string {
  return `${mti.slice(0, 2)}${Number(mti[2]) + 1}0`
}

export type Asked = {
  link: Link
  message: Message
  is_advice: boolean
  /** Whether a security code was given; its result is part of the answer. */
  has_code: boolean
}

export function toResponse(asked: Asked, decision: Decision): StoredResponse {
  const { link, message } = asked
  const response_code = responseCode(decision, asked.is_advice)
  const mti = responseMti(message.mti)
  const fields = saidIn(asked, decision, response_code)
  const bytes = encodeResponse(link, message, { mti, fields, repeats: repeatsOf(message.fields) })
  return { mti, response_code, fields, bytes, kept_bytes: keptResponse(link, message, bytes) }
}

/** An element that repeats the card number is not repeated in turn: the answer is stored. */
function repeatsOf(fields: Message['fields']): readonly boolean[] {
  const pan = fields[2] ?? ''
  const named = FREE_TEXTS.filter((element) => pan !== '' && fields[element]?.includes(pan))
  if (named.length === 0) return ECHOED
  return tableOf(ECHOED_ELEMENTS.filter((each) => !named.includes(each)))
}

/**
 * An answer as it is kept: zeros stand where the number was. It is the first element behind the
 * one bitmap that an answer has.
 */
function keptResponse(link: Link, message: Message, bytes: Uint8Array): Uint8Array {
  const pan = message.fields[2]
  const layout = link.layouts[2]
  if (pan === undefined || layout === undefined) return bytes
  const kept_bytes = copyOf(bytes)
  const writer = { bytes: kept_bytes, at: elementsOffset(link, false) }
  writeElement(layout, writer, '0'.repeat(pan.length))
  return kept_bytes
}

/** An answer as it is sent: the message that it answers has the number, in the link's own bytes. */
export function restoreResponse(link: Link, message: Message, kept_bytes: Uint8Array): Uint8Array {
  const pan = message.fields[2]
  const layout = link.layouts[2]
  if (pan === undefined || layout === undefined) return kept_bytes
  const bytes = copyOf(kept_bytes)
  const from = elementsOffset(link, message.bitmap_hex.length > 16)
  const element = message.raw.subarray(from, from + encodedSizeOf(layout, pan))
  bytes.set(element, elementsOffset(link, false))
  return bytes
}

function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafe(bytes.length)
  copy.set(bytes)
  return copy
}

function saidIn(asked: Asked, decision: Decision, response_code: string): Record<number, string> {
  const { authorization_code, available_micros } = decision
  const said: Record<number, string> = { 39: response_code }
  if (decision.verdict === 'approved' && authorization_code !== null) said[38] = authorization_code
  if (asked.has_code) said[44] = codeResult(decision)
  if (available_micros !== null) said[54] = balanceAmount(available_micros)
  if (decision.part !== null) sayPart(said, asked.message.fields, decision.part)
  return said
}

/** Elements 4 and 6 are what was approved; 54 repeats what was asked for. */
function sayPart(
  said: Record<number, string>,
  asked: Message['fields'],
  { minor, micros }: NonNullable<Decision['part']>,
): void {
  said[4] = minor.toString().padStart(AMOUNT_DIGITS, '0')
  if (asked[6] !== undefined) {
    said[6] = ((micros ?? 0n) / MICROS_PER_CENT).toString().padStart(AMOUNT_DIGITS, '0')
  }
  const [amount = '0', code = ''] = [asked[4], asked[49]]
  const currency = currencyOfLetters(code)?.numeric ?? code
  said[54] = writeAdditionalAmounts([
    { account_type: '00', amount_type: '57', currency, sign: 'D', amount },
  ])
}

const AMOUNT_DIGITS = 12

/** M: the code is right; N: it is wrong; P: it was not evaluated. */
function codeResult({ is_code_right }: Decision): string {
  if (is_code_right === null) return 'P'
  return is_code_right ? 'M' : 'N'
}

const MICROS_PER_CENT = 10_000n

/** Account type 00, amount type 02: what is available; in dollars, in the holder's favour. */
function balanceAmount(micros: Micros): string {
  const amount = (micros / MICROS_PER_CENT).toString()
  return writeAdditionalAmounts([
    { account_type: '00', amount_type: '02', currency: '840', sign: 'C', amount },
  ])
}
