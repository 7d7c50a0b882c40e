import { resolve } from 'node:path'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'

/** A hardware token (PKCS#11) whose AES key seals the key file. */
export type TokenSettings = {
  /** The vendor's library, such as libsofthsm2.so. */
  module: string
  /** The label of the token. */
  token: string
  /** CKA_ID of the AES key, in hexadecimal. */
  key_id: string
  pin_file: string
  /**
   * CKA_ID of the secp256k1 key of each cell's hot wallet, by the number of the cell; empty if they
   * are derived from the signer's seed.
   */
  signer_key_ids: Readonly<Record<string, string>>
}

const NEED_MODULE = [
  'FLORIN_PKCS11_TOKEN',
  'FLORIN_PKCS11_KEY_ID',
  'FLORIN_PKCS11_PIN_FILE',
  'FLORIN_PKCS11_SIGNER_KEY_ID',
  'FLORIN_PKCS11_SIGNER_KEY_IDS',
]

/** Null if no token is configured. */
export function readTokenSettings(env: Environment): TokenSettings | null {
  const module = env['FLORIN_PKCS11_MODULE'] || null
  if (module === null) {
    // Without the module the key file would be stored unprotected, and nothing would say so.
    const orphan = NEED_MODULE.find((name) => env[name])
    if (orphan !== undefined) throw new ConfigError(`${orphan} also needs FLORIN_PKCS11_MODULE.`)
    return null
  }
  const token = env['FLORIN_PKCS11_TOKEN'] || null
  const pin_file = env['FLORIN_PKCS11_PIN_FILE'] || null
  const key_id = readKeyId(env, 'FLORIN_PKCS11_KEY_ID')
  if (token === null || key_id === null || pin_file === null) {
    throw new ConfigError(
      'FLORIN_PKCS11_MODULE also needs FLORIN_PKCS11_TOKEN, _KEY_ID and _PIN_FILE.',
    )
  }
  const signer_key_ids = readSignerKeyIds(env)
  return { module: resolve(module), token, key_id, pin_file: resolve(pin_file), signer_key_ids }
}

function readKeyId(env: Environment, name: string): string | null {
  const id = env[name] || null
  return id === null ? null : parseKeyId(id, name)
}

function parseKeyId(id: unknown, name: string): string {
  if (typeof id === 'string' && /^([0-9a-f]{2}){1,32}$/i.test(id)) return id.toLowerCase()
  throw new ConfigError(`${name} is "${id}"; it must be a hexadecimal id such as 01.`)
}

const MORE_KEYS = 'FLORIN_PKCS11_SIGNER_KEY_IDS'

function readSignerKeyIds(env: Environment): TokenSettings['signer_key_ids'] {
  const first = readKeyId(env, 'FLORIN_PKCS11_SIGNER_KEY_ID')
  const others = readJson(env, MORE_KEYS, {})
  const example = 'it must be the IDs of the other cells\' keys, such as {"1": "03"}'
  if (!isRecord(others)) throw new ConfigError(`${MORE_KEYS}: ${example}.`)
  const ids: Record<string, string> = first === null ? {} : { 0: first }
  for (const [cell, id] of Object.entries(others)) {
    if (!/^[1-9]\d{0,2}$/.test(cell)) throw new ConfigError(`${MORE_KEYS}: ${example}.`)
    ids[cell] = parseKeyId(id, `${MORE_KEYS}: the key of cell ${cell}`)
  }
  if (first === null && Object.keys(ids).length > 0) {
    throw new ConfigError(`${MORE_KEYS} also needs FLORIN_PKCS11_SIGNER_KEY_ID, which is cell 0.`)
  }
  // Cells pay without asking each other, so they must not share the nonces of a wallet.
  if (new Set(Object.values(ids)).size < Object.keys(ids).length) {
    throw new ConfigError(`${MORE_KEYS}: two cells have the same key; each needs its own.`)
  }
  return ids
}
