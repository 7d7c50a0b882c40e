import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { decimalFromMicros, type Micros } from '#kernel/money.ts'
import type { AssetSettings, ChainSettings } from './chain_settings.ts'
import { type DepositAddresses, depositAddresses } from './derive.ts'
import { bytesFromEvmAddress, bytesFromEvmHex, evmAddressFromBytes } from './evm/address.ts'
import { bytesFromTronAddress, tronAddressFromBytes } from './tron/address.ts'

/** A configured chain, without its node. Internal addresses are 40 hex digits. */
export type Chain = {
  name: string
  settings: ChainSettings
  assets: readonly ChainAsset[]
  asset(name: string): ChainAsset | undefined
  /** Null for an invalid address or checksum. */
  readAddress(text: string): string | null
  showAddress(address: string): string
  showTxid(txid: string): string
  deposit_addresses: DepositAddresses
  hot_wallet: string
  /** Those of all cells. */
  hot_wallets: readonly string[]
  cold_wallets: readonly string[]
  paymentUri(payment: { asset: ChainAsset; address: string; amount_micros: Micros }): string
}

/** The contract as 40 hex digits. */
export type ChainAsset = AssetSettings

const chains_by_settings = new WeakMap<object, ReadonlyMap<string, Chain>>()

/**
 * The configured chains by name. They are built once per settings: every top-up and withdrawal
 * calls this, and parsing an xpub is arithmetic on an elliptic curve.
 */
export function chainsOf(settings: readonly ChainSettings[]): ReadonlyMap<string, Chain> {
  let chains = chains_by_settings.get(settings)
  if (chains === undefined) {
    chains = new Map(settings.map((each) => [each.chain, chainOf(each)]))
    chains_by_settings.set(settings, chains)
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
  const assets = settings.assets.map((asset) => ({
    ...asset,
    contract: parseAddress(settings, asset.contract),
  }))
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
    hot_wallets: [settings.hot_wallet, ...Object.values(settings.hot_wallets)].map((text) =>
      parseAddress(settings, text),
    ),
    cold_wallets: settings.cold_wallets.map((text) => parseAddress(settings, text)),
    paymentUri: ({ asset, address, amount_micros }) =>
      isTron
        ? `tron:${showAddress(address)}?amount=${decimalFromMicros(amount_micros)}`
        : // EIP-681: a transfer call on the asset's contract.
          `ethereum:${showAddress(asset.contract)}@${settings.chain_id}/transfer` +
          `?address=${showAddress(address)}&uint256=${amount_micros}`,
  }
}

/** Settings may have EVM addresses in lowercase. */
function parseAddress({ family, chain }: ChainSettings, text: string): string {
  const bytes = family === 'tron' ? bytesFromTronAddress(text) : bytesFromEvmHex(text)
  assert(bytes !== null, `${text} is an address on ${chain}`)
  return bytesToHex(bytes)
}
