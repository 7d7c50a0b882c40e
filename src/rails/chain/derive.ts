import { HARDENED_OFFSET, HDKey } from '@scure/bip32'
import { assert } from '#kernel/assert.ts'
import type { Secret } from '#kernel/secret.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { addressBytesOfPublicKey } from './public_key.ts'
import { seedFromPhrase } from './seed.ts'

/** Chains that spell addresses and build transfers alike are one family. */
export type ChainFamily = 'tron' | 'evm'

/** SLIP-44 coin types: 195 is TRON, 60 is Ether and by custom every EVM chain. */
const COIN_TYPES = { tron: 195, evm: 60 } as const satisfies Record<ChainFamily, number>

/** m / 44' / coin' / account' */
const ACCOUNT_DEPTH = 3

export type DepositAddress = { index: number; path: string; address: string }
export type DepositAddresses = { at(index: number): DepositAddress }

export function accountPath(family: ChainFamily, account = 0): string {
  assert(isPlainIndex(account), 'an account number is a small whole number')
  return `m/44'/${COIN_TYPES[family]}'/${account}'`
}

/**
 * The one derivation that needs the seed phrase; for the signer and the operator's tools. What it
 * returns is public but confidential: with it and any one child's private key, the private keys of
 * the whole account can be computed.
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
 * Deposit addresses of an account, by public derivation only. The external branch (/0) is derived
 * once and kept, which halves the work of each address.
 */
export function depositAddresses(family: ChainFamily, xpub: string): DepositAddresses {
  const account = HDKey.fromExtendedKey(xpub)
  if (account.privateKey !== null) {
    account.wipePrivateData()
    throw new Error('deposit addresses are derived from an xpub; a private key must not come here')
  }
  if (account.depth !== ACCOUNT_DEPTH || account.index < HARDENED_OFFSET) {
    throw new Error("the xpub is not an account's, three hardened levels deep")
  }
  const branch = account.deriveChild(0)
  const path = `${accountPath(family, account.index - HARDENED_OFFSET)}/0`
  return {
    at: (index) => ({ index, path: `${path}/${index}`, address: address(family, branch, index) }),
  }
}

function address(family: ChainFamily, branch: HDKey, index: number): string {
  if (!isPlainIndex(index)) throw new Error('an address index is whole and not hardened')
  const { publicKey } = branch.deriveChild(index)
  assert(publicKey !== null, 'a derived node has a public key')
  const bytes = addressBytesOfPublicKey(publicKey)
  return family === 'tron' ? tronAddressFromBytes(bytes) : evmAddressFromBytes(bytes)
}

function isPlainIndex(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < HARDENED_OFFSET
}
