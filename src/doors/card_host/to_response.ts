import type { Decision, KeptAnswer } from '#domain/authorizations/request.ts'
import { bytesOfCharacters, type Link } from '#iso8583/link.ts'
import { encode, type Message } from '#iso8583/message.ts'
import { writeAmounts } from '#iso8583/subfields.ts'
import type { Micros } from '#kernel/money.ts'
import { responseCode } from './response_codes.ts'

/** What an answer repeats, so that the peer can tell which message it belongs to. */
const ECHOED = [2, 3, 4, 5, 6, 7, 11, 15, 19, 25, 32, 33, 37, 41, 42, 49, 51, 62, 63] as const

/** The answer's type: the third digit counts on, and the digit of a repeat goes. */
export function answerMti(mti: string): string {
  return `${mti.slice(0, 2)}${Number(mti[2]) + 1}0`
}

type Asked = {
  link: Link
  message: Message
  is_advice: boolean
  /** Whether a security code was given; its result is part of the answer. */
  has_code: boolean
}

export function toResponse(asked: Asked, decision: Decision): KeptAnswer {
  const { link, message } = asked
  const response_code = responseCode(decision, asked.is_advice)
  const said = saidIn(asked, decision, response_code)
  const mti = answerMti(message.mti)
  const fields = echoed(message.fields)
  for (const element in said) fields[element] = said[element] as string
  if (fields[2] !== undefined) fields[2] = '0'.repeat(fields[2].length)
  const kept_bytes = encode(link, { mti, fields })
  return {
    mti,
    response_code,
    fields: said,
    bytes: restoreResponse(link, message, kept_bytes),
    kept_bytes,
  }
}

/**
 * An answer as it is sent: zeros stand where the number was kept out, and the message that it
 * answers has the number, in the link's own bytes. It is the first element behind the one bitmap
 * that an answer has.
 */
export function restoreResponse(link: Link, message: Message, kept_bytes: Uint8Array): Uint8Array {
  const from = message.offsets[2]
  const layout = link.layouts[2]
  if (from === undefined || layout === undefined) return kept_bytes
  const size = bytesOfCharacters(layout, (message.fields[2] ?? '').length)
  const bytes = Buffer.from(kept_bytes)
  const at = link.mti_bytes + link.bitmap_bytes + layout.prefix_bytes
  bytes.set(message.raw.subarray(from, from + size), at)
  return bytes
}

/** An element that repeats the card number is not repeated in turn: the answer is stored. */
function echoed(fields: Readonly<Record<number, string>>): Record<number, string> {
  const echo: Record<number, string> = {}
  const pan = fields[2] ?? ''
  for (const element of ECHOED) {
    const value = fields[element]
    if (value === undefined) continue
    if (element >= FIRST_PRIVATE && pan !== '' && value.includes(pan)) continue
    echo[element] = value
  }
  return echo
}

const FIRST_PRIVATE = 62

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
  const [amount = '0', currency = ''] = [asked[4], asked[49]]
  said[54] = writeAmounts([{ account_type: '00', amount_type: '57', currency, sign: 'D', amount }])
}

const AMOUNT_DIGITS = 12

/** M: the code is right; N: it is not; P: nobody has looked. */
function codeResult({ verdict, decline_code, transaction }: Decision): string {
  if (transaction?.failed_rules.includes('cvv_mismatch')) return 'N'
  return verdict === 'approved' || (verdict === 'declined' && decline_code !== 'invalid_card')
    ? 'M'
    : 'P'
}

const MICROS_PER_CENT = 10_000n

/** Account type 00, amount type 02: what is available; in dollars, in the holder's favour. */
function balanceAmount(micros: Micros): string {
  const amount = (micros / MICROS_PER_CENT).toString()
  return writeAmounts([
    { account_type: '00', amount_type: '02', currency: '840', sign: 'C', amount },
  ])
}
