import { assert } from '#kernel/assert.ts'

/** Returns an integer from zero to below the bound, like node's crypto.randomInt. */
export type RandomInt = (bound: number) => number

const DIGITS = /^\d+$/
/** ISO/IEC 7812: at most 19 digits. */
const PAN_LENGTH_MIN = 12
const PAN_LENGTH_MAX = 19
const PAN_LENGTH = 16

/** The last digit that makes the whole number pass the Luhn check. */
export function luhnCheckDigit(payload: string): string {
  assert(DIGITS.test(payload), 'a check digit is computed over digits')
  let sum = 0
  for (let index = 0; index < payload.length; index += 1) {
    const digit = payload.charCodeAt(payload.length - 1 - index) - 0x30
    const weighed = index % 2 === 0 ? digit * 2 : digit
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return String((10 - (sum % 10)) % 10)
}

/** True for a card number of valid length that passes the Luhn check. */
export function isPan(text: string): boolean {
  const has_length = text.length >= PAN_LENGTH_MIN && text.length <= PAN_LENGTH_MAX
  return has_length && DIGITS.test(text) && luhnCheckDigit(text.slice(0, -1)) === text.at(-1)
}

/**
 * A random card number in the BIN; random, so one card number does not reveal the next. The caller
 * retries if the number is taken.
 */
export function generatePan(bin: string, randomInt: RandomInt): string {
  assert(DIGITS.test(bin) && bin.length >= 6 && bin.length <= 8, 'a BIN has six to eight digits')
  const digits = PAN_LENGTH - 1 - bin.length
  const payload = bin + String(randomInt(10 ** digits)).padStart(digits, '0')
  return payload + luhnCheckDigit(payload)
}
