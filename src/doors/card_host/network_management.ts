import { APPROVED, FORMAT_ERROR, ISSUER_INOPERATIVE, NOT_SUPPORTED } from '#doors/response_codes.ts'
import type { Link } from '#iso8583/link.ts'
import { encode, type Message } from '#iso8583/message.ts'
import { responseMti } from './to_response.ts'

/**
 * Before a required sign-on, a connection may send nothing else. After a sign-off, requests are
 * declined until the next sign-on, but advices are still booked.
 */
export type SignOnState = { sign_on: 'awaited' | 'signed_on' | 'signed_off' }

/** Element 70 of network management messages. */
export const SIGN_ON = '001'
const SIGN_OFF = '002'
export const ECHO_TEST = '301'

const ECHOED_ELEMENTS = [7, 11, 33, 70] as const

export const isNetworkManagement = (mti: string): boolean => mti[1] === '8'

/** Applies a sign-on or sign-off to the connection and returns the 0810. */
export function respondToNetworkManagement(
  link: Link,
  state: SignOnState,
  { mti, fields }: Message,
): Uint8Array {
  const code = fields[70]
  if (code === SIGN_ON) state.sign_on = 'signed_on'
  const is_awaited = state.sign_on === 'awaited'
  if (code === SIGN_OFF && !is_awaited) state.sign_on = 'signed_off'
  const response: Record<number, string> = {}
  for (const element of ECHOED_ELEMENTS) {
    const value = fields[element]
    if (value !== undefined) response[element] = value
  }
  response[39] = is_awaited ? ISSUER_INOPERATIVE : responseCodeOf(code)
  return encode(link, { mti: responseMti(mti), fields: response })
}

/** Key exchange is not supported: there is no HSM to keep the keys. */
function responseCodeOf(code: string | undefined): string {
  if (code === undefined) return FORMAT_ERROR
  return code === SIGN_ON || code === SIGN_OFF || code === ECHO_TEST ? APPROVED : NOT_SUPPORTED
}

/** A 0800 with the fields that every network management request has. */
export function networkManagementRequest(
  link: Link,
  { code, stan, now }: { code: typeof SIGN_ON | typeof ECHO_TEST; stan: number; now: Date },
): Uint8Array {
  const transmission_time = now.toISOString().replace(/\D/g, '').slice(4, 14)
  const fields = { 7: transmission_time, 11: String(stan).padStart(6, '0'), 70: code }
  return encode(link, { mti: '0800', fields })
}
