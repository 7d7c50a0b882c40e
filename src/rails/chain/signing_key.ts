import { secp256k1 } from '@noble/curves/secp256k1.js'
import { Secret } from '#kernel/secret.ts'

/** Signs a 32-byte hash. Returns the recovery id, r and s, with s in the lower half. */
export type SignHash = (hash: Uint8Array) => Uint8Array

/** A private key in memory, or one that only its hardware token can use. */
export type SigningKey = Secret<Uint8Array> | SignHash

export function signHash(key: SigningKey, hash: Uint8Array): Uint8Array {
  if (!(key instanceof Secret)) return key(hash)
  return secp256k1.sign(hash, key.open(), { prehash: false, format: 'recovered' })
}

/**
 * Completes a token's bare r and s: chains accept only the lower s, and need the recovery id. A
 * signature that no recovery id turns into the token's public key is refused.
 */
export function recoverableSignature(
  compact: Uint8Array,
  hash: Uint8Array,
  public_key: Uint8Array,
): Uint8Array {
  const { r, s } = secp256k1.Signature.fromBytes(compact, 'compact')
  const { ORDER } = secp256k1.Point.Fn
  const low = new secp256k1.Signature(r, s > ORDER / 2n ? ORDER - s : s)
  const expected = secp256k1.Point.fromBytes(public_key)
  for (const recovery of [0, 1]) {
    const signature = low.addRecoveryBit(recovery)
    if (signature.recoverPublicKey(hash).equals(expected)) return signature.toBytes('recovered')
  }
  throw new Error("the token's signature does not belong to its public key")
}
