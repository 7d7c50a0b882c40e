import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { assert } from '#kernel/assert.ts'

const ADDRESS_BYTES = 20

/** TRON prefixes the 20 address bytes of EVM chains with this version. */
const VERSION = 0x41

/** 21 bytes that start with 0x41 and a 4-byte checksum always encode to 34 characters. */
const ADDRESS_LETTERS = 34

const base58check = createBase58check(sha256)

export function tronAddressFromBytes(bytes: Uint8Array): string {
  return base58check.encode(withVersion(bytes))
}

/** Null unless alphabet, length, version and checksum are valid. */
export function bytesFromTronAddress(text: string): Uint8Array | null {
  if (text.length !== ADDRESS_LETTERS) return null
  const bytes = decodeBase58(text)
  if (bytes === null || bytes.length !== 1 + ADDRESS_BYTES || bytes[0] !== VERSION) return null
  return bytes.slice(1)
}

export function isTronAddress(text: string): boolean {
  return bytesFromTronAddress(text) !== null
}

/** The hex format of nodes: 42 lowercase digits that start with 41. */
export function tronHexFromBytes(bytes: Uint8Array): string {
  return bytesToHex(withVersion(bytes))
}

export function bytesFromTronHex(text: string): Uint8Array | null {
  return /^41[0-9a-fA-F]{40}$/.test(text) ? hexToBytes(text.slice(2)) : null
}

function withVersion(bytes: Uint8Array): Uint8Array {
  assert(bytes.length === ADDRESS_BYTES, 'a TRON address has 20 bytes after its version')
  return Uint8Array.of(VERSION, ...bytes)
}

function decodeBase58(text: string): Uint8Array | null {
  try {
    return base58check.decode(text)
  } catch {
    return null
  }
}
