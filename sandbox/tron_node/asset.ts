import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import {
  addressWord,
  numberWord,
  readNumberWord,
  selectorOf,
  TRANSFER_FUNCTION,
  TRANSFER_TOPIC,
} from '#rails/chain/tron/trc20.ts'
import type { Log } from './block.ts'
import { keys, type Reader } from './chain_state.ts'

/** A simulated TRC-20 contract: balances and metadata. */
export type Asset = { address: string; symbol: string; name: string; decimals: number }

export type AssetTransfer = { from: string; to: string; value: bigint }

export type AssetCallResult = {
  ok: boolean
  returned: string
  reason: string
  energy: number
  transfer?: AssetTransfer
}

/** Typical mainnet values: the first balance of an address costs more than a change. */
const ENERGY_TO_HOLDER = 64_285
const ENERGY_TO_NEWCOMER = 130_285
const ENERGY_OF_REVERT = 3_400
const ENERGY_OF_READ = 900

export const REVERTED = 'REVERT opcode executed'

type AssetRead = (state: Reader, asset: Asset, words: Uint8Array) => Uint8Array

const reads: Record<string, AssetRead> = {
  [selectorOf('balanceOf(address)')]: (state, asset, words) =>
    numberWord(state.get(keys.asset(asset.address, bytesToHex(words.subarray(12, 32))))),
  [selectorOf('decimals()')]: (_, asset) => numberWord(BigInt(asset.decimals)),
  [selectorOf('totalSupply()')]: (state, asset) =>
    numberWord(state.get(keys.supply(asset.address))),
  [selectorOf('symbol()')]: (_, asset) => textWords(asset.symbol),
  [selectorOf('name()')]: (_, asset) => textWords(asset.name),
}

/** Computes the result of a call without applying it. */
export function callAsset(
  state: Reader,
  asset: Asset,
  { caller, data }: { caller: string; data: Uint8Array },
): AssetCallResult {
  const selector = bytesToHex(data.subarray(0, 4))
  const words = data.subarray(4)
  if (selector === selectorOf(TRANSFER_FUNCTION) && words.length >= 64) {
    const to = bytesToHex(words.subarray(12, 32))
    return simulateTransfer(state, asset, {
      from: caller,
      to,
      value: readNumberWord(words.subarray(32, 64)),
    })
  }
  const read = reads[selector]
  if (read === undefined || (selector === selectorOf('balanceOf(address)') && words.length < 32)) {
    return { ok: false, returned: '', reason: REVERTED, energy: ENERGY_OF_REVERT }
  }
  const returned = bytesToHex(read(state, asset, words))
  return { ok: true, returned, reason: '', energy: ENERGY_OF_READ }
}

function simulateTransfer(state: Reader, asset: Asset, transfer: AssetTransfer): AssetCallResult {
  if (state.get(keys.asset(asset.address, transfer.from)) < transfer.value) {
    return { ok: false, returned: '', reason: REVERTED, energy: ENERGY_OF_REVERT }
  }
  const isHolder = state.get(keys.asset(asset.address, transfer.to)) > 0n
  return {
    ok: true,
    // The real USDT declares a bool but never sets it, so success returns false.
    returned: bytesToHex(numberWord(0n)),
    reason: '',
    energy: isHolder ? ENERGY_TO_HOLDER : ENERGY_TO_NEWCOMER,
    transfer,
  }
}

export function transferLog(asset: Asset, { from, to, value }: AssetTransfer): Log {
  const topicOf = (address: string): string => bytesToHex(addressWord(hexToBytes(address)))
  return {
    address: asset.address,
    topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)],
    data: bytesToHex(numberWord(value)),
  }
}

/** An ABI string: offset, length and the padded bytes. */
function textWords(text: string): Uint8Array {
  const bytes = utf8ToBytes(text)
  const padding = new Uint8Array((32 - (bytes.length % 32)) % 32)
  return concatBytes(numberWord(32n), numberWord(BigInt(bytes.length)), bytes, padding)
}
