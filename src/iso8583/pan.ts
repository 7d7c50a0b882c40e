import { assert } from '#kernel/assert.ts'

/** A whole number from zero up to, not including, the bound; node's crypto.randomInt is one. */
export type RandomInt = (bound: number) => number

const DIGITS = /^\d+$/
/** ISO/IEC 7812: at least eight digits of issuer and account, at most nineteen in all. */
const PAN_LENGTH_MIN = 12
const PAN_LENGTH_MAX = 19
const PAN_LENGTH = 16

/** The digit that makes the number of digits before it pass the Luhn check. */
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

/** Whether a text has the shape of a card number and its last digit fits the others. */
export function isPan(text: string): boolean {
  const has_length = text.length >= PAN_LENGTH_MIN && text.length <= PAN_LENGTH_MAX
  return has_length && DIGITS.test(text) && luhnCheckDigit(text.slice(0, -1)) === text.at(-1)
}

/**
 * A random card number of an issuer. Never sequential, so that no card tells the next one; whoever
 * stores it finds out whether it is taken and asks again.
 */
export function generatePan(bin: string, randomInt: RandomInt): string {
  assert(DIGITS.test(bin) && bin.length >= 6 && bin.length <= 8, 'a BIN has six to eight digits')
  const digits = PAN_LENGTH - 1 - bin.length
  const payload = bin + String(randomInt(10 ** digits)).padStart(digits, '0')
  return payload + luhnCheckDigit(payload)
}
