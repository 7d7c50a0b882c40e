import { resolve } from 'node:path'

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

type Environment = Readonly<Record<string, string | undefined>>

/** The settings, null without a token, or a sentence for what is wrong with them. */
export function tokenSettingsFrom(env: Environment): TokenSettings | null | string {
  const module = env['FLORIN_PKCS11_MODULE'] || null
  if (module === null) return null
  const token = env['FLORIN_PKCS11_TOKEN'] || null
  const key_id = env['FLORIN_PKCS11_KEY_ID'] || null
  const pin_file = env['FLORIN_PKCS11_PIN_FILE'] || null
  if (token === null || key_id === null || pin_file === null) {
    return 'FLORIN_PKCS11_MODULE also needs FLORIN_PKCS11_TOKEN, _KEY_ID and _PIN_FILE'
  }
  const signer_key_id = env['FLORIN_PKCS11_SIGNER_KEY_ID'] || null
  const ids = { FLORIN_PKCS11_KEY_ID: key_id, FLORIN_PKCS11_SIGNER_KEY_ID: signer_key_id }
  for (const [name, id] of Object.entries(ids)) {
    if (id !== null && !/^([0-9a-f]{2}){1,32}$/i.test(id)) {
      return `${name} is "${id}"; it must be a hexadecimal id such as 01`
    }
  }
  return {
    module: resolve(module),
    token,
    key_id: key_id.toLowerCase(),
    pin_file: resolve(pin_file),
    signer_key_id: signer_key_id?.toLowerCase() ?? null,
  }
}
