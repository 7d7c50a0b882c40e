import { resolve } from 'node:path'
import { ConfigError, type Environment } from '#platform/settings/environment.ts'

/** A hardware token (PKCS#11) whose AES key seals the key file. */
export type TokenSettings = {
  /** The vendor's library, such as libsofthsm2.so. */
  module: string
  /** The label of the token. */
  token: string
  /** CKA_ID of the AES key, in hexadecimal. */
  key_id: string
  pin_file: string
  /** CKA_ID of the hot wallet's secp256k1 key; null if it is derived from the signer's seed. */
  signer_key_id: string | null
}

/** Null if no token is configured. */
export function readTokenSettings(env: Environment): TokenSettings | null {
  const module = env['FLORIN_PKCS11_MODULE'] || null
  if (module === null) return null
  const token = env['FLORIN_PKCS11_TOKEN'] || null
  const pin_file = env['FLORIN_PKCS11_PIN_FILE'] || null
  const key_id = readKeyId(env, 'FLORIN_PKCS11_KEY_ID')
  if (token === null || key_id === null || pin_file === null) {
    throw new ConfigError(
      'FLORIN_PKCS11_MODULE also needs FLORIN_PKCS11_TOKEN, _KEY_ID and _PIN_FILE.',
    )
  }
  const signer_key_id = readKeyId(env, 'FLORIN_PKCS11_SIGNER_KEY_ID')
  return { module: resolve(module), token, key_id, pin_file: resolve(pin_file), signer_key_id }
}

function readKeyId(env: Environment, name: string): string | null {
  const id = env[name] || null
  if (id === null || /^([0-9a-f]{2}){1,32}$/i.test(id)) return id?.toLowerCase() ?? null
  throw new ConfigError(`${name} is "${id}"; it must be a hexadecimal id such as 01.`)
}
