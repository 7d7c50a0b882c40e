import { createCipheriv, timingSafeEqual } from 'node:crypto'
import { assert } from '#kernel/assert.ts'

/**
 * Card verification values in the way of Visa, computed from a key pair and never stored. The
 * service code makes the flavour: 000 for CVV2, 999 for the chip's, the card's own for the stripe.
 */
export type CvvInput = {
  pan: string
  /** Four digits in the order of element 14: year, then month. */
  expiry: string
  service_code: string
}

export const KEY_PAIR_BYTES = 16
const BLOCKS_DIGITS = 32
const CVV_DIGITS = 3

/** OpenSSL 3 refuses single DES, but three times the same key is exactly that. */
function encryptBlock(keys: readonly Uint8Array[], block: Uint8Array): Buffer {
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat(keys), null)
  cipher.setAutoPadding(false)
  return Buffer.concat([cipher.update(block), cipher.final()])
}

export function computeCvv(key_pair: Uint8Array, input: CvvInput): string {
  assert(key_pair.length === KEY_PAIR_BYTES, 'a key pair has sixteen bytes')
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

/** Decimal digits come first, left to right; then the letters, each less ten. */
function decimalize(hex: string): string {
  const digits = hex.replace(/[a-f]/g, '')
  const letters = hex.replace(/\d/g, '').replace(/[a-f]/g, (letter) => {
    return String(Number.parseInt(letter, 16) - 10)
  })
  return (digits + letters).slice(0, CVV_DIGITS)
}

/** Takes the same time whichever digit is wrong. */
export function isValidCvv(key_pair: Uint8Array, input: CvvInput, given: string): boolean {
  const right = Buffer.from(computeCvv(key_pair, input))
  const claimed = Buffer.from(given)
  return claimed.length === right.length && timingSafeEqual(claimed, right)
}
