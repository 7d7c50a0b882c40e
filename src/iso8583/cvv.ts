import { createCipheriv, timingSafeEqual } from 'node:crypto'
import { assert } from '#kernel/assert.ts'

/**
 * Card verification values by Visa's algorithm, computed from a key pair and never stored. The
 * service code selects the kind: 000 for CVV2, 999 for iCVV, the card's own for the stripe.
 */
export type CvvInput = {
  pan: string
  /** YYMM, as in element 14. */
  expiry: string
  service_code: string
}

export const KEY_PAIR_BYTES = 16
const BLOCKS_DIGITS = 32
const CVV_DIGITS = 3

/** OpenSSL 3 has no single DES; triple DES with three equal keys is the same. */
function encryptBlock(keys: readonly Uint8Array[], block: Uint8Array): Buffer {
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat(keys), null)
  cipher.setAutoPadding(false)
  return Buffer.concat([cipher.update(block), cipher.final()])
}

export function computeCvv(key_pair: Uint8Array, input: CvvInput): string {
  assert(key_pair.length === KEY_PAIR_BYTES, 'a CVK pair has 16 bytes')
  assert(/^\d{12,19}$/.test(input.pan), 'a card number has 12 to 19 digits')
  assert(/^\d{4}$/.test(input.expiry), 'an expiry has four digits')
  assert(/^\d{3}$/.test(input.service_code), 'a service code has three digits')
  const a = key_pair.subarray(0, 8)
  const b = key_pair.subarray(8)
  const digits = input.pan + input.expiry + input.service_code
  const blocks = Buffer.from(digits.padEnd(BLOCKS_DIGITS, '0'), 'hex')
  const mixed = encryptBlock([a, a, a], blocks.subarray(0, 8))
  for (let at = 0; at < 8; at += 1) mixed[at] = (mixed[at] as number) ^ (blocks[8 + at] as number)
  return decimalize(encryptBlock([a, b, a], mixed).toString('hex'))
}

/** First the decimal digits from left to right, then the letters, each minus ten. */
function decimalize(hex: string): string {
  const digits = hex.replace(/[a-f]/g, '')
  const letters = hex.replace(/\d/g, '').replace(/[a-f]/g, (letter) => {
    return String(Number.parseInt(letter, 16) - 10)
  })
  return (digits + letters).slice(0, CVV_DIGITS)
}

/** Compares in constant time. */
export function isValidCvv(key_pair: Uint8Array, input: CvvInput, cvv: string): boolean {
  const expected = Buffer.from(computeCvv(key_pair, input))
  const received = Buffer.from(cvv)
  return received.length === expected.length && timingSafeEqual(received, expected)
}
