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

/** The hot wallet's key in a hardware token, which serves every chain, but only cell 0. */
export type HotKey = { public_key: Uint8Array; sign: SignHash }

/** Deposit keys are always derived from the seed (BIP 32), which hardware tokens cannot do. */
export function walletFromPhrase(phrase: Secret<string>, hot_key: HotKey | null = null): Wallet {
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
  return {
    xpub: (family) => accountXpubFromPhrase(family, phrase, DEPOSIT_ACCOUNT),
    hasHotWallet: (cell) => hot_key === null || cell === 0,
    keyOf: (family, deposit_index, cell = 0) =>
      deposit_index === null && hot_key !== null
        ? hot_key.sign
        : derive(family, deposit_index, cell),
    recordKey: () => createHmac('sha256', seed).update('florin signer record').digest(),
    addressOf: (family, deposit_index, cell = 0) =>
      bytesToHex(
        deposit_index === null && hot_key !== null
          ? addressBytesOfPublicKey(hot_key.public_key)
          : addressBytesOfPrivateKey(derive(family, deposit_index, cell).open()),
      ),
  }
}
