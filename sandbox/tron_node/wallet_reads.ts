import { bytesToHex } from '@noble/hashes/utils.js'
import { addressOf } from '#rails/chain/tron/transaction_json.ts'
import { asset_abi } from './asset_abi.ts'
import type { Block } from './block.ts'
import {
  ACTIVATION_BANDWIDTH_SUN,
  ACTIVATION_SUN,
  BANDWIDTH_FREE_DAILY,
  BANDWIDTH_SUN,
  bandwidthFree,
  ENERGY_SUN,
  energyFree,
  energyLimit,
  FEE_LIMIT_MAX_SUN,
} from './resources.ts'
import type { View } from './view.ts'
import { addressText, blockJson, minedJson, receiptJson, withoutZeros } from './wallet_shapes.ts'
import { keys } from './world.ts'

export type Ask = { view: View; params: Record<string, unknown>; visible: boolean }
export type WalletCall = (ask: Ask) => unknown

/** The node's way of saying that a request makes no sense, with status 200. */
export class AskError extends Error {}

/** The same for contract calls, which have an envelope of their own. */
export class CallError extends AskError {}

const BLOCKS_AT_ONCE_MAX = 100

/** Calls that exist under /wallet and, on solidified data, under /walletsolidity. */
export const wallet_reads: Record<string, WalletCall> = {
  getnowblock: ({ view, visible }) => blockJson(view.newest, { detail: true, visible }),
  getblock: (ask) => {
    const { id_or_num, detail } = ask.params
    const block =
      id_or_num === undefined ? ask.view.newest : blockNamed(ask.view, String(id_or_num))
    return blockOrNothing(ask, block, detail === true || detail === 'true')
  },
  getblockbynum: (ask) => blockOrNothing(ask, ask.view.block(numberOf(ask.params.num)), true),
  getblockbyid: (ask) =>
    blockOrNothing(ask, ask.view.blockById(textOf(ask.params.value).toLowerCase()), true),
  getblockbylimitnext: (ask) => blocksBetween(ask),
  gettransactionbyid: ({ view, params, visible }) => {
    const found = view.find(textOf(params.value).toLowerCase())
    return found === null ? {} : minedJson(found.mined, visible)
  },
  gettransactioninfobyid: ({ view, params, visible }) => {
    const found = view.find(textOf(params.value).toLowerCase())
    return found === null ? {} : receiptJson(found, visible)
  },
  gettransactioninfobyblocknum: ({ view, params, visible }) => {
    const block = view.block(numberOf(params.num))
    if (block === null) return []
    return block.mined.map((mined, index) => receiptJson({ block, mined, index }, visible))
  },
  getaccount: (ask) => accountJson(ask),
}

/** Calls that only a full node answers. */
export const full_node_reads: Record<string, WalletCall> = {
  getaccountresource: (ask) => resourceJson(ask),
  getaccountnet: (ask) => resourceJson(ask),
  getcontract: (ask) => {
    const asset = ask.view.chain.assets.get(addressParameter(ask, 'value'))
    if (asset === undefined) return {}
    const contract_address = addressText(asset.address, ask.visible)
    return { contract_address, name: asset.name, abi: { entrys: asset_abi } }
  },
  getchainparameters: () => ({
    chainParameter: [
      { key: 'getTransactionFee', value: BANDWIDTH_SUN },
      { key: 'getEnergyFee', value: ENERGY_SUN },
      { key: 'getCreateAccountFee', value: ACTIVATION_BANDWIDTH_SUN },
      { key: 'getCreateNewAccountFeeInSystemContract', value: ACTIVATION_SUN },
      { key: 'getMaxFeeLimit', value: FEE_LIMIT_MAX_SUN },
      { key: 'getFreeNetLimit', value: BANDWIDTH_FREE_DAILY },
      // A parameter without a value is one that was never voted on.
      { key: 'getAllowDynamicEnergy' },
    ],
  }),
}

export function addressParameter(ask: Ask, name: string): string {
  const bytes = addressOf(ask.params[name], ask.visible)
  if (bytes === null) throw new AskError(`INVALID ${name}`)
  return bytesToHex(bytes)
}

function blockNamed(view: View, name: string): Block | null {
  if (/^[0-9a-fA-F]{64}$/.test(name)) return view.blockById(name.toLowerCase())
  if (!/^\d{1,15}$/.test(name)) throw new AskError('INVALID id_or_num')
  return view.block(Number(name))
}

function blockOrNothing({ visible }: Ask, block: Block | null, detail: boolean): unknown {
  return block === null ? {} : blockJson(block, { detail, visible })
}

function blocksBetween({ view, params, visible }: Ask): unknown {
  const [start, end] = [numberOf(params.startNum), numberOf(params.endNum)]
  if (end <= start || end - start > BLOCKS_AT_ONCE_MAX) return {}
  const numbers = Array.from({ length: end - start }, (_, at) => start + at)
  const blocks = numbers.flatMap((number) => view.block(number) ?? [])
  return { block: blocks.map((block) => blockJson(block, { detail: true, visible })) }
}

function accountJson(ask: Ask): unknown {
  const address = addressParameter(ask, 'address')
  const { world } = ask.view
  if (world.get(keys.exists(address)) === 0n) return {}
  const staked = Number(world.get(keys.staked(address)) - world.get(keys.lent(address)))
  return {
    address: addressText(address, ask.visible),
    ...withoutZeros({ balance: Number(world.get(keys.trx(address))) }),
    frozenV2: [{}, withoutZeros({ type: 'ENERGY', amount: staked })],
  }
}

function resourceJson(ask: Ask): unknown {
  const address = addressParameter(ask, 'address')
  const { world, newest } = ask.view
  if (world.get(keys.exists(address)) === 0n) return {}
  const limit = energyLimit(world, address)
  return withoutZeros({
    freeNetUsed: BANDWIDTH_FREE_DAILY - bandwidthFree(world, address, newest.timestamp_ms),
    freeNetLimit: BANDWIDTH_FREE_DAILY,
    EnergyUsed: limit - energyFree(world, address, newest.timestamp_ms),
    EnergyLimit: limit,
  })
}

function numberOf(value: unknown): number {
  const number =
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : (value ?? 0)
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw new AskError('INVALID number')
  return number
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new AskError('INVALID hex String')
  return value
}
