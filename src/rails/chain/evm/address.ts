import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'

const ADDRESS_BYTES = 20

/** EIP-55: a letter is a capital where the hash of the lower-case text has a high nibble. */
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
 * For what people type. All-lower spellings carry no checksum, so a slip in them would go unseen;
 * only the EIP-55 spelling is taken. What a node answers is read with evmAddressFromHex.
 */
export function bytesFromEvmAddress(text: string): Uint8Array | null {
  const bytes = bytesFromEvmHex(text)
  return bytes !== null && evmAddressFromBytes(bytes) === text ? bytes : null
}

export function isEvmAddress(text: string): boolean {
  return bytesFromEvmAddress(text) !== null
}

/** For what a node answers: 0x and 40 digits in any case. */
export function bytesFromEvmHex(text: string): Uint8Array | null {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? hexToBytes(text.slice(2)) : null
}

export function evmAddressFromHex(text: string): string | null {
  const bytes = bytesFromEvmHex(text)
  return bytes === null ? null : evmAddressFromBytes(bytes)
}
