import { createHmac } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { assert } from '#kernel/assert.ts'
import { Secret } from '#kernel/secret.ts'
import { accountPath, accountXpubFromPhrase, type ChainFamily } from '#rails/chain/derive.ts'
import { addressBytesOfPrivateKey, addressBytesOfPublicKey } from '#rails/chain/public_key.ts'
import { seedFromPhrase } from '#rails/chain/seed.ts'
import type { SignHash, SigningKey } from '#rails/chain/signing_key.ts'

/** The private keys. A deposit index selects a deposit address; null is a cell's hot wallet. */
export type Wallet = {
  xpub(family: ChainFamily): string
  /** False if there is no hot wallet for this cell. */
  hasHotWallet(cell: number): boolean
  keyOf(family: ChainFamily, deposit_index: number | null, cell?: number): SigningKey
  /** The MAC key of the signer's record; it requires the seed. */
  recordKey(): Uint8Array
  /** 40 hex digits. */
  addressOf(family: ChainFamily, deposit_index: number | null, cell?: number): string
}

/**
 * Hot wallets are in another account than the deposits, because the deposits' xpub and one of their
 * private keys are enough to compute all keys of that account. Each cell has its own, the address
 * with the cell's number: cells pay without asking each other, so they must not share nonces.
 */
const DEPOSIT_ACCOUNT = 0
const HOT_ACCOUNT = 1

/** A hot wallet's key in a hardware token, which serves every chain. */
export type HotKey = { public_key: Uint8Array; sign: SignHash }

/** By the number of the cell; empty if hot wallets are derived from the seed too. */
export type HotKeys = ReadonlyMap<number, HotKey>

/** Deposit keys are always derived from the seed (BIP 32), which hardware tokens cannot do. */
export function walletFromPhrase(phrase: Secret<string>, hot_keys: HotKeys = new Map()): Wallet {
  const seed = seedFromPhrase(phrase)
  const master = HDKey.fromMasterSeed(seed)
  const derive = (
    family: ChainFamily,
    deposit_index: number | null,
    cell: number,
  ): Secret<Uint8Array> => {
    const account = deposit_index === null ? HOT_ACCOUNT : DEPOSIT_ACCOUNT
    const node = master.derive(`${accountPath(family, account)}/0/${deposit_index ?? cell}`)
    assert(node.privateKey !== null, 'a node derived from the seed has a private key')
    return new Secret(node.privateKey)
  }
  const hotKeyOf = (deposit_index: number | null, cell: number): HotKey | null => {
    if (deposit_index !== null || hot_keys.size === 0) return null
    const hot_key = hot_keys.get(cell)
    assert(hot_key !== undefined, 'the token has a key for the hot wallet of this cell')
    return hot_key
  }
  return {
    xpub: (family) => accountXpubFromPhrase(family, phrase, DEPOSIT_ACCOUNT),
    hasHotWallet: (cell) => hot_keys.size === 0 || hot_keys.has(cell),
    keyOf: (family, deposit_index, cell = 0) =>
      hotKeyOf(deposit_index, cell)?.sign ?? derive(family, deposit_index, cell),
    recordKey: () => createHmac('sha256', seed).update('florin signer record').digest(),
    addressOf: (family, deposit_index, cell = 0) => {
      const hot_key = hotKeyOf(deposit_index, cell)
      return bytesToHex(
        hot_key === null
          ? addressBytesOfPrivateKey(derive(family, deposit_index, cell).open())
          : addressBytesOfPublicKey(hot_key.public_key),
      )
    },
  }
}
