import type { Decision, StoredResponse } from '#domain/authorizations/request.ts'
import { responseCode } from '#doors/response_codes.ts'
import { elementsOffset } from '#iso8583/bitmap.ts'
import { currencyOfLetters } from '#iso8583/currencies.ts'
import { encodedSizeOf, type Link } from '#iso8583/link.ts'
import { findPans, includesAny } from '#iso8583/mask.ts'
import { encodeResponse, type Message } from '#iso8583/message.ts'
import { writeAdditionalAmounts } from '#iso8583/subfields.ts'
import { writeElement } from '#iso8583/write_element.ts'
import type { Micros } from '#kernel/money.ts'

/** Echoed from the request, so that the peer can match the response to it. */
export const ECHOED_ELEMENTS: ReadonlySet<number> = new Set([
  2, 3, 4, 5, 6, 7, 11, 15, 19, 25, 32, 33, 37, 41, 42, 49, 51, 62, 63,
])
const FREE_TEXT_ELEMENTS = [62, 63]

/** The response's MTI: the function digit plus one, without the repeat indicator. */
export function responseMti(mti: string): string {
  return `${mti.slice(0, 2)}${Number(mti[2]) + 1}0`
}

export type ResponseContext = {
  link: Link
  /** The request. */
  message: Message
  is_advice: boolean
  /** The request has a CVV, so the response has its result. */
  has_cvv: boolean
}

export function toResponse(context: ResponseContext, decision: Decision): StoredResponse {
  const { link, message } = context
  const response_code = responseCode(decision, context.is_advice)
  const mti = responseMti(message.mti)
  const fields = responseFields(context, decision, response_code)
  const echoes = echoedElementsOf(message.fields)
  const bytes = encodeResponse(link, message, { mti, fields, echoes })
  return { mti, response_code, fields: null, bytes, kept_bytes: withoutPan(link, message, bytes) }
}

/** Free text that contains the card number is not echoed, because the response is stored. */
function echoedElementsOf(fields: Message['fields']): ReadonlySet<number> {
  const pans = findPans(fields)
  const with_pan = FREE_TEXT_ELEMENTS.filter((element) => includesAny(fields[element] ?? '', pans))
  if (with_pan.length === 0) return ECHOED_ELEMENTS
  return new Set([...ECHOED_ELEMENTS].filter((element) => !with_pan.includes(element)))
}

/**
 * The response as it is stored, with zeros for the card number. That is the first element, and
 * responses have only the primary bitmap.
 */
function withoutPan(link: Link, message: Message, bytes: Uint8Array): Uint8Array {
  const pan = message.fields[2]
  const layout = link.layouts[2]
  if (pan === undefined || layout === undefined) return bytes
  const kept_bytes = Buffer.from(bytes)
  const writer = { bytes: kept_bytes, at: elementsOffset(link, false) }
  writeElement(layout, writer, '0'.repeat(pan.length))
  return kept_bytes
}

/** A stored response as it is sent again: the repeated request supplies the card number. */
export function restoreResponse(link: Link, message: Message, kept_bytes: Uint8Array): Uint8Array {
  const pan = message.fields[2]
  const layout = link.layouts[2]
  if (pan === undefined || layout === undefined) return kept_bytes
  const bytes = Buffer.from(kept_bytes)
  const from = elementsOffset(link, message.bitmap_hex.length > 16)
  const element = message.raw.subarray(from, from + encodedSizeOf(layout, pan))
  bytes.set(element, elementsOffset(link, false))
  return bytes
}

/** The elements that are not echoed. */
function responseFields(
  context: ResponseContext,
  decision: Decision,
  response_code: string,
): Record<number, string> {
  const { authorization_code, available_micros } = decision
  const fields: Record<number, string> = { 39: response_code }
  if (decision.verdict === 'approved' && authorization_code !== null) {
    fields[38] = authorization_code
  }
  if (context.has_cvv) fields[44] = cvvResult(decision)
  if (available_micros !== null) fields[54] = balanceAmount(available_micros)
  if (decision.part !== null) {
    Object.assign(fields, partialApprovalFields(context.message.fields, decision.part))
  }
  return fields
}

const AMOUNT_DIGITS = 12
const MICROS_PER_CENT = 10_000n

/** Elements 4 and 6 have the approved amount; element 54 has the requested one. */
function partialApprovalFields(
  request: Message['fields'],
  { minor, micros }: NonNullable<Decision['part']>,
): Record<number, string> {
  const [amount = '0', code = ''] = [request[4], request[49]]
  const currency = currencyOfLetters(code)?.numeric ?? code
  const cents = (micros ?? 0n) / MICROS_PER_CENT
  return {
    4: minor.toString().padStart(AMOUNT_DIGITS, '0'),
    ...(request[6] !== undefined && { 6: cents.toString().padStart(AMOUNT_DIGITS, '0') }),
    54: writeAdditionalAmounts([
      { account_type: '00', amount_type: '57', currency, sign: 'D', amount },
    ]),
  }
}

/** M: match; N: no match; P: not processed. */
function cvvResult({ is_code_right }: Decision): string {
  if (is_code_right === null) return 'P'
  return is_code_right ? 'M' : 'N'
}

/** Amount type 02, the available balance, in USD and as a credit. */
function balanceAmount(micros: Micros): string {
  const amount = (micros / MICROS_PER_CENT).toString()
  return writeAdditionalAmounts([
    { account_type: '00', amount_type: '02', currency: '840', sign: 'C', amount },
  ])
}
