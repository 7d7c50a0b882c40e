import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'

/** The part of the ABI that token transfers need: 32-byte words, addresses and integers. */
const WORD_BYTES = 32
const UINT256_MAX = 2n ** 256n - 1n

export const TRANSFER_FUNCTION = 'transfer(address,uint256)'
export const BALANCE_FUNCTION = 'balanceOf(address)'

/** The first topic of a Transfer log, without 0x. */
export const TRANSFER_TOPIC = bytesToHex(
  keccak_256(utf8ToBytes('Transfer(address,address,uint256)')),
)

export function selectorOf(signature: string): string {
  return bytesToHex(keccak_256(utf8ToBytes(signature)).subarray(0, 4))
}

export function addressWord(address: Uint8Array): Uint8Array {
  assert(address.length === 20, 'an address has 20 bytes')
  return concatBytes(new Uint8Array(12), address)
}

export function numberWord(value: bigint): Uint8Array {
  assert(value >= 0n && value <= UINT256_MAX, 'a word holds a non-negative uint256')
  return hexToBytes(value.toString(16).padStart(WORD_BYTES * 2, '0'))
}

/** The words after the selector; some calls of the HTTP API take them separately. */
export function transferParameter(to: Uint8Array, amount: bigint): Uint8Array {
  return concatBytes(addressWord(to), numberWord(amount))
}

const TRANSFER_SELECTOR = hexToBytes(selectorOf(TRANSFER_FUNCTION))

export function transferCall(to: Uint8Array, amount: bigint): Uint8Array {
  return concatBytes(TRANSFER_SELECTOR, transferParameter(to, amount))
}

/** Null unless the data is exactly one transfer call. */
export function readTransferCall(data: Uint8Array): { to: Uint8Array; amount: bigint } | null {
  if (data.length !== 4 + 2 * WORD_BYTES) return null
  const to = data.slice(16, 36)
  const amount = readNumberWord(data.subarray(36))
  return bytesToHex(transferCall(to, amount)) === bytesToHex(data) ? { to, amount } : null
}

export function readNumberWord(word: Uint8Array): bigint {
  assert(word.length === WORD_BYTES, 'a word has 32 bytes')
  return BigInt(`0x${bytesToHex(word)}`)
}
