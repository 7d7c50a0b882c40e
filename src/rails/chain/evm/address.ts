import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'

const ADDRESS_BYTES = 20

/** EIP-55: a letter is uppercase if the nibble of the lowercase text's hash is 8 or more. */
export function evmAddressFromBytes(bytes: Uint8Array): string {
  assert(bytes.length === ADDRESS_BYTES, 'an EVM address has 20 bytes')
  const letters = bytesToHex(bytes)
  const hash = bytesToHex(keccak_256(utf8ToBytes(letters)))
  let text = '0x'
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters.charAt(at)
    text += hash.charAt(at) >= '8' ? letter.toUpperCase() : letter
  }
  return text
}

/**
 * For user input: accepts only the EIP-55 form, because a lowercase address has no checksum that
 * would reveal a typo. Use evmAddressFromHex for node responses.
 */
export function bytesFromEvmAddress(text: string): Uint8Array | null {
  const bytes = bytesFromEvmHex(text)
  return bytes !== null && evmAddressFromBytes(bytes) === text ? bytes : null
}

/** For node responses: 0x and 40 hex digits in any case. */
export function bytesFromEvmHex(text: string): Uint8Array | null {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? hexToBytes(text.slice(2)) : null
}

export function evmAddressFromHex(text: string): string | null {
  const bytes = bytesFromEvmHex(text)
  return bytes === null ? null : evmAddressFromBytes(bytes)
}
