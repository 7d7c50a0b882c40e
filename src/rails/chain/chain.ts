import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { decimalFromMicros, type Micros } from '#kernel/money.ts'
import type { AssetSettings, ChainSettings } from './chain_settings.ts'
import { type DepositAddresses, depositAddresses } from './derive.ts'
import { bytesFromEvmAddress, bytesFromEvmHex, evmAddressFromBytes } from './evm/address.ts'
import { bytesFromTronAddress, tronAddressFromBytes } from './tron/address.ts'

/** A chain as the programme uses it: what needs no node. Addresses inside are 40 digits. */
export type Chain = {
  name: string
  settings: ChainSettings
  assets: readonly ChainAsset[]
  asset(name: string): ChainAsset | undefined
  /** Null for a spelling that this chain does not know or whose checksum is wrong. */
  readAddress(text: string): string | null
  showAddress(address: string): string
  showTxid(txid: string): string
  deposit_addresses: DepositAddresses
  hot_wallet: string
  cold_wallets: readonly string[]
  paymentUri(payment: { asset: ChainAsset; address: string; amount_micros: Micros }): string
}

/** The contract as 40 digits. */
export type ChainAsset = AssetSettings

const known = new WeakMap<object, ReadonlyMap<string, Chain>>()

/** The configured chains by name; derivation keeps what it has computed, so they are made once. */
export function chainsOf(settings: readonly ChainSettings[]): ReadonlyMap<string, Chain> {
  let chains = known.get(settings)
  if (chains === undefined) {
    chains = new Map(settings.map((one) => [one.chain, chainOf(one)]))
    known.set(settings, chains)
  }
  return chains
}

function chainOf(settings: ChainSettings): Chain {
  const isTron = settings.family === 'tron'
  const readAddress = (text: string) => {
    const bytes = isTron ? bytesFromTronAddress(text) : bytesFromEvmAddress(text)
    return bytes === null ? null : bytesToHex(bytes)
  }
  const showAddress = (address: string) =>
    (isTron ? tronAddressFromBytes : evmAddressFromBytes)(hexToBytes(address))
  const assets = settings.assets.map((one) => ({ ...one, contract: configured(settings, one) }))
  return {
    name: settings.chain,
    settings,
    assets,
    asset: (name) => assets.find(({ asset }) => asset === name),
    readAddress,
    showAddress,
    showTxid: (txid) => (isTron ? txid : `0x${txid}`),
    deposit_addresses: depositAddresses(settings.family, settings.xpub),
    hot_wallet: parseAddress(settings, settings.hot_wallet),
    cold_wallets: settings.cold_wallets.map((text) => parseAddress(settings, text)),
    paymentUri: ({ asset, address, amount_micros }) =>
      isTron
        ? `tron:${showAddress(address)}?amount=${decimalFromMicros(amount_micros)}`
        : // EIP-681: a transfer call on the asset's contract.
          `ethereum:${showAddress(asset.contract)}@${settings.chain_id}/transfer` +
          `?address=${showAddress(address)}&uint256=${amount_micros}`,
  }
}

function configured(settings: ChainSettings, { contract }: AssetSettings): string {
  return parseAddress(settings, contract)
}

/** Operators may write EVM addresses in small letters, as many lists do. */
function parseAddress({ family, chain }: ChainSettings, text: string): string {
  const bytes = family === 'tron' ? bytesFromTronAddress(text) : bytesFromEvmHex(text)
  assert(bytes !== null, `${text} is an address on ${chain}`)
  return bytesToHex(bytes)
}
