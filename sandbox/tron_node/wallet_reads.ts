import { bytesToHex } from '@noble/hashes/utils.js'
import { addressOf } from '#rails/chain/tron/transaction_json.ts'
import { asset_abi } from './asset_abi.ts'
import type { Block } from './block.ts'
import { keys } from './chain_state.ts'
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

export type WalletRequest = { view: View; params: Record<string, unknown>; visible: boolean }
export type WalletCall = (request: WalletRequest) => unknown

/** An invalid request; nodes return it with status 200. */
export class WalletError extends Error {}

/** The same for contract calls, whose responses have another envelope. */
export class ContractCallError extends WalletError {}

const BLOCKS_AT_ONCE_MAX = 100

/** Calls under /wallet and, with solidified data, under /walletsolidity. */
export const wallet_reads: Record<string, WalletCall> = {
  getnowblock: ({ view, visible }) => blockJson(view.newest, { detail: true, visible }),
  getblock: (request) => {
    const { id_or_num, detail } = request.params
    const block =
      id_or_num === undefined ? request.view.newest : blockNamed(request.view, String(id_or_num))
    return blockOrNothing(request, block, detail === true || detail === 'true')
  },
  getblockbynum: (request) =>
    blockOrNothing(request, request.view.block(numberOf(request.params.num)), true),
  getblockbyid: (request) =>
    blockOrNothing(
      request,
      request.view.blockById(textOf(request.params.value).toLowerCase()),
      true,
    ),
  getblockbylimitnext: (request) => blocksBetween(request),
  gettransactionbyid: ({ view, params, visible }) => {
    const located = view.find(textOf(params.value).toLowerCase())
    return located === null ? {} : minedJson(located.mined, visible)
  },
  gettransactioninfobyid: ({ view, params, visible }) => {
    const located = view.find(textOf(params.value).toLowerCase())
    return located === null ? {} : receiptJson(located, visible)
  },
  gettransactioninfobyblocknum: ({ view, params, visible }) => {
    const block = view.block(numberOf(params.num))
    if (block === null) return []
    return block.mined.map((mined, index) => receiptJson({ block, mined, index }, visible))
  },
  getaccount: (request) => accountJson(request),
}

/** Calls of full nodes only. */
export const full_node_reads: Record<string, WalletCall> = {
  getaccountresource: (request) => resourceJson(request),
  getaccountnet: (request) => resourceJson(request),
  getcontract: (request) => {
    const asset = request.view.chain.assets.get(addressParameter(request, 'value'))
    if (asset === undefined) return {}
    const contract_address = addressText(asset.address, request.visible)
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
      // Parameters that were never voted on have no value.
      { key: 'getAllowDynamicEnergy' },
    ],
  }),
}

export function addressParameter(request: WalletRequest, name: string): string {
  const bytes = addressOf(request.params[name], request.visible)
  if (bytes === null) throw new WalletError(`INVALID ${name}`)
  return bytesToHex(bytes)
}

function blockNamed(view: View, name: string): Block | null {
  if (/^[0-9a-fA-F]{64}$/.test(name)) return view.blockById(name.toLowerCase())
  if (!/^\d{1,15}$/.test(name)) throw new WalletError('INVALID id_or_num')
  return view.block(Number(name))
}

function blockOrNothing({ visible }: WalletRequest, block: Block | null, detail: boolean): unknown {
  return block === null ? {} : blockJson(block, { detail, visible })
}

function blocksBetween({ view, params, visible }: WalletRequest): unknown {
  const [start, end] = [numberOf(params.startNum), numberOf(params.endNum)]
  if (end <= start || end - start > BLOCKS_AT_ONCE_MAX) return {}
  const numbers = Array.from({ length: end - start }, (_, at) => start + at)
  const blocks = numbers.flatMap((number) => view.block(number) ?? [])
  return { block: blocks.map((block) => blockJson(block, { detail: true, visible })) }
}

function accountJson(request: WalletRequest): unknown {
  const address = addressParameter(request, 'address')
  const { state } = request.view
  if (state.get(keys.exists(address)) === 0n) return {}
  const staked = Number(state.get(keys.staked(address)) - state.get(keys.lent(address)))
  return {
    address: addressText(address, request.visible),
    ...withoutZeros({ balance: Number(state.get(keys.trx(address))) }),
    frozenV2: [{}, withoutZeros({ type: 'ENERGY', amount: staked })],
  }
}

function resourceJson(request: WalletRequest): unknown {
  const address = addressParameter(request, 'address')
  const { state, newest } = request.view
  if (state.get(keys.exists(address)) === 0n) return {}
  const limit = energyLimit(state, address)
  return withoutZeros({
    freeNetUsed: BANDWIDTH_FREE_DAILY - bandwidthFree(state, address, newest.timestamp_ms),
    freeNetLimit: BANDWIDTH_FREE_DAILY,
    EnergyUsed: limit - energyFree(state, address, newest.timestamp_ms),
    EnergyLimit: limit,
  })
}

function numberOf(value: unknown): number {
  const number =
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : (value ?? 0)
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw new WalletError('INVALID number')
  return number
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new WalletError('INVALID hex String')
  return value
}
