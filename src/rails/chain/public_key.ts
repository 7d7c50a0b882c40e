import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'

/**
 * The last 20 bytes of the Keccak hash of the public key, the same on TRON and EVM chains. Only the
 * text format differs.
 */
export function addressBytesOfPublicKey(public_key: Uint8Array): Uint8Array {
  const coordinates = secp256k1.Point.fromBytes(public_key).toBytes(false).subarray(1)
  return keccak_256(coordinates).slice(12)
}

export function addressBytesOfPrivateKey(private_key: Uint8Array): Uint8Array {
  return addressBytesOfPublicKey(secp256k1.getPublicKey(private_key))
}
