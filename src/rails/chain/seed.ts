import { pbkdf2Sync } from 'node:crypto'
import { validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type { Secret } from '#kernel/secret.ts'

const ROUNDS = 2_048
const SEED_BYTES = 64

/** The BIP-39 seed of a phrase, with Node's native PBKDF2 because it takes 2,048 rounds. */
export function seedFromPhrase(phrase: Secret<string>): Uint8Array {
  if (!validateMnemonic(phrase.open(), wordlist)) throw new Error('the seed phrase is not valid')
  return pbkdf2Sync(phrase.open().normalize('NFKD'), 'mnemonic', ROUNDS, SEED_BYTES, 'sha512')
}
