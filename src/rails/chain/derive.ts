import { HARDENED_OFFSET, HDKey } from '@scure/bip32'
import { assert } from '#kernel/assert.ts'
import type { Secret } from '#kernel/secret.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { addressBytesOfPublicKey } from './public_key.ts'
import { seedFromPhrase } from './seed.ts'

/** Chains with the same address and transaction formats. */
export type ChainFamily = 'tron' | 'evm'

/** SLIP-44 coin types: 195 is TRON, 60 is Ether and by convention every EVM chain. */
const COIN_TYPES = { tron: 195, evm: 60 } as const satisfies Record<ChainFamily, number>

/** m / 44' / coin' / account' */
const ACCOUNT_DEPTH = 3

type DepositAddress = { index: number; path: string; address: string }
export type DepositAddresses = { at(index: number): DepositAddress }

export function accountPath(family: ChainFamily, account = 0): string {
  assert(isPlainIndex(account), 'an account index is not hardened')
  return `m/44'/${COIN_TYPES[family]}'/${account}'`
}

/**
 * Needs the seed phrase, so only the signer and the operator's tools call it. Keep the xpub
 * confidential: with it and one child's private key, all private keys of the account can be
 * computed.
 */
export function accountXpubFromPhrase(
  family: ChainFamily,
  phrase: Secret<string>,
  account = 0,
): string {
  const master = HDKey.fromMasterSeed(seedFromPhrase(phrase))
  const node = master.derive(accountPath(family, account))
  const xpub = node.publicExtendedKey
  node.wipePrivateData()
  master.wipePrivateData()
  return xpub
}

/**
 * Deposit addresses of an account by public derivation. The external branch (/0) is derived once,
 * which halves the work per address.
 */
export function depositAddresses(family: ChainFamily, xpub: string): DepositAddresses {
  const account = HDKey.fromExtendedKey(xpub)
  if (account.privateKey !== null) {
    account.wipePrivateData()
    throw new Error('expected an xpub, got a private key')
  }
  if (account.depth !== ACCOUNT_DEPTH || account.index < HARDENED_OFFSET) {
    throw new Error("the xpub is not an account's (m/44'/coin'/account')")
  }
  const branch = account.deriveChild(0)
  const path = `${accountPath(family, account.index - HARDENED_OFFSET)}/0`
  return {
    at: (index) => ({ index, path: `${path}/${index}`, address: address(family, branch, index) }),
  }
}

function address(family: ChainFamily, branch: HDKey, index: number): string {
  if (!isPlainIndex(index)) throw new Error('an address index must be an integer and not hardened')
  const { publicKey } = branch.deriveChild(index)
  assert(publicKey !== null, 'a derived node has a public key')
  const bytes = addressBytesOfPublicKey(publicKey)
  return family === 'tron' ? tronAddressFromBytes(bytes) : evmAddressFromBytes(bytes)
}

function isPlainIndex(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < HARDENED_OFFSET
}
