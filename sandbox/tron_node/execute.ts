import { bytesToHex } from '@noble/hashes/utils.js'
import type { TronContract } from '#rails/chain/tron/contract.ts'
import { type Asset, callAsset, REVERTED, transferLog } from './asset.ts'
import type { Receipt, Transaction } from './block.ts'
import { type ChainState, keys } from './chain_state.ts'
import {
  ACTIVATION_BANDWIDTH_SUN,
  ACTIVATION_SUN,
  bandwidthOf,
  chargeBandwidth,
  chargeEnergy,
  ENERGY_SUN,
  energyFree,
} from './resources.ts'

type TransferFault = 'reverted_transfer' | 'taxed_transfer'

export type TakeFault = (kind: TransferFault, transfer: { to: string; txid: string }) => boolean

export type BlockContext = {
  time_ms: number
  assets: ReadonlyMap<string, Asset>
  /** True if this transfer must be mined with this fault. */
  takeFault: TakeFault
}

type Call = Extract<TronContract, { type: 'TriggerSmartContract' }>
type Payment = Extract<TronContract, { type: 'TransferContract' }>

const OUT_OF_ENERGY = "Not enough energy for 'SSTORE' operation executing"

/** Null if it cannot be mined; the transaction is then dropped from the pool. */
export function execute(
  state: ChainState,
  transaction: Transaction,
  context: BlockContext,
): Receipt | null {
  const { contract } = transaction.content
  const payer = { address: bytesToHex(contract.owner), time_ms: context.time_ms }
  if (state.get(keys.exists(payer.address)) === 0n) return null
  if (contract.type === 'TransferContract' && isNew(state, contract)) {
    return activateAndTransfer(state, contract)
  }
  const bandwidth = chargeBandwidth(state, payer, bandwidthOf(transaction.raw.length / 2))
  if (bandwidth === null) return null
  const receipt = receiptOf({
    bandwidth_used: bandwidth.used,
    bandwidth_fee_sun: bandwidth.fee_sun,
    fee_sun: bandwidth.fee_sun,
  })
  switch (contract.type) {
    case 'TriggerSmartContract':
      return executeCall(state, { transaction, contract, context }, receipt)
    case 'TransferContract':
      return transferTrx(state, contract) ? receipt : null
    case 'DelegateResourceContract':
      state.add(keys.lent(payer.address), contract.balance_sun)
      state.add(keys.borrowed(bytesToHex(contract.receiver)), contract.balance_sun)
      return receipt
  }
}

type ContractCallInput = { transaction: Transaction; contract: Call; context: BlockContext }

function executeCall(
  state: ChainState,
  { transaction, contract, context }: ContractCallInput,
  paid: Receipt,
): Receipt {
  const asset = context.assets.get(bytesToHex(contract.contract))
  const payer = { address: bytesToHex(contract.owner), time_ms: context.time_ms }
  const call = { caller: payer.address, data: contract.data }
  const result =
    asset === undefined
      ? { ok: false, returned: '', reason: REVERTED, energy: 0 }
      : callAsset(state, asset, call)
  const energy_max = affordableEnergy(state, payer, transaction.content.fee_limit_sun)
  const is_out_of_energy = result.energy > energy_max
  const charge = chargeEnergy(state, payer, is_out_of_energy ? energy_max : result.energy)
  const spent: Receipt = {
    ...paid,
    energy_staked: charge.staked,
    energy_fee_sun: charge.fee_sun,
    energy_total: is_out_of_energy ? energy_max : result.energy,
    fee_sun: paid.fee_sun + charge.fee_sun,
  }
  if (is_out_of_energy) return { ...spent, result: 'OUT_OF_ENERGY', reason: OUT_OF_ENERGY }
  const { transfer } = 'transfer' in result ? result : { transfer: undefined }
  const hasFault = (kind: TransferFault) =>
    transfer !== undefined && context.takeFault(kind, { to: transfer.to, txid: transaction.txid })
  if (!result.ok || hasFault('reverted_transfer')) {
    return { ...spent, result: 'REVERT', reason: REVERTED }
  }
  if (asset === undefined || transfer === undefined) {
    return { ...spent, result: 'SUCCESS', returned: result.returned }
  }
  const tax = hasFault('taxed_transfer') ? transfer.value / 100n : 0n
  const arriving = { ...transfer, value: transfer.value - tax }
  state.add(keys.asset(asset.address, transfer.from), -transfer.value)
  state.add(keys.asset(asset.address, transfer.to), arriving.value)
  const logs = [transferLog(asset, arriving)]
  return { ...spent, result: 'SUCCESS', returned: result.returned, logs }
}

/** The fee limit caps burnt and staked energy together; the balance caps burnt energy. */
function affordableEnergy(
  state: ChainState,
  payer: { address: string; time_ms: number },
  fee_limit_sun: bigint,
): number {
  const price = BigInt(ENERGY_SUN)
  const free = energyFree(state, payer.address, payer.time_ms)
  const balance = state.get(keys.trx(payer.address))
  return Math.min(free + Number(balance / price), Number(fee_limit_sun / price))
}

function isNew(state: ChainState, contract: Payment): boolean {
  return state.get(keys.exists(bytesToHex(contract.to))) === 0n
}

/** The first TRX transfer to an address activates it for an additional fee. */
function activateAndTransfer(state: ChainState, contract: Payment): Receipt | null {
  const fee_sun = ACTIVATION_SUN + ACTIVATION_BANDWIDTH_SUN
  const owner = keys.trx(bytesToHex(contract.owner))
  if (state.get(owner) < contract.amount_sun + BigInt(fee_sun)) return null
  state.add(owner, -BigInt(fee_sun))
  state.set(keys.exists(bytesToHex(contract.to)), 1n)
  transferTrx(state, contract)
  return receiptOf({ fee_sun, bandwidth_fee_sun: ACTIVATION_BANDWIDTH_SUN })
}

function transferTrx(state: ChainState, contract: Payment): boolean {
  const owner = keys.trx(bytesToHex(contract.owner))
  if (state.get(owner) < contract.amount_sun) return false
  state.add(owner, -contract.amount_sun)
  state.add(keys.trx(bytesToHex(contract.to)), contract.amount_sun)
  return true
}

function receiptOf(known: Partial<Receipt>): Receipt {
  return {
    result: null,
    returned: '',
    reason: '',
    fee_sun: 0,
    energy_staked: 0,
    energy_fee_sun: 0,
    energy_total: 0,
    bandwidth_used: 0,
    bandwidth_fee_sun: 0,
    logs: [],
    ...known,
  }
}
