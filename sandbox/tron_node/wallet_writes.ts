import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { RESOURCES, type TronContract } from '#rails/chain/tron/contract.ts'
import { type RawData, rawBytes, referenceOf, txidOf } from '#rails/chain/tron/transaction.ts'
import { amountOf, hexOf, rawDataFromJson } from '#rails/chain/tron/transaction_json.ts'
import { selectorOf } from '#rails/chain/tron/trc20.ts'
import type { AdmissionError } from './admission.ts'
import { type AssetCallResult, callAsset } from './asset.ts'
import type { Transaction } from './block.ts'
import type { Chain } from './chain.ts'
import {
  addressParameter,
  ContractCallError,
  type WalletCall,
  WalletError,
  type WalletRequest,
} from './wallet_reads.ts'
import { hexMessage, transactionJson } from './wallet_shapes.ts'

/** Nodes build transactions that expire after a minute. */
const LIFETIME_MS = 60_000

/** Read-only calls, served under /walletsolidity too. */
export const constant_calls: Record<string, WalletCall> = {
  triggerconstantcontract: (request) => {
    const { result, built } = simulateCall(request)
    const { visible: _, ...transaction } = transactionJson(built, request.visible)
    const ret = result.ok ? {} : { ret: 'FAILED' }
    return {
      result: { result: true, ...(result.ok ? {} : { message: hexMessage(result.reason) }) },
      energy_used: result.energy,
      constant_result: [result.returned],
      transaction: { ret: [ret], visible: request.visible, ...transaction },
    }
  },
  estimateenergy: (request) => {
    const { result } = simulateCall(request)
    if (result.ok) return { result: { result: true }, energy_required: result.energy }
    return { result: { code: 'CONTRACT_EXE_ERROR', message: hexMessage(result.reason) } }
  },
}

/** Calls that build a transaction for its owner to sign. */
export const building_calls: Record<string, WalletCall> = {
  triggersmartcontract: (request) => {
    const built = buildCall(request)
    return { result: { result: true }, transaction: transactionJson(built, request.visible) }
  },
  createtransaction: (request) => {
    const [owner, to] = [
      addressParameter(request, 'owner_address'),
      addressParameter(request, 'to_address'),
    ]
    const amount_sun = amountParameter(request, 'amount')
    const type = 'TransferContract'
    return validateAndBuild(request, {
      type,
      owner: hexToBytes(owner),
      to: hexToBytes(to),
      amount_sun,
    })
  },
  delegateresource: (request) => {
    const resource = RESOURCES.find((name) => name === (request.params.resource ?? 'BANDWIDTH'))
    if (resource === undefined) throw new WalletError('INVALID resource')
    return validateAndBuild(request, {
      type: 'DelegateResourceContract',
      owner: hexToBytes(addressParameter(request, 'owner_address')),
      receiver: hexToBytes(addressParameter(request, 'receiver_address')),
      resource,
      balance_sun: amountParameter(request, 'balance'),
    })
  },
}

/**
 * Rebuilds the bytes from the JSON and ignores the sent txid and raw_data_hex, so changed content
 * has an invalid signature.
 */
export function broadcastJson(
  chain: Chain,
  { params, visible }: WalletRequest,
  code_forced: string | null,
): Record<string, unknown> {
  const content = rawDataFromJson(params.raw_data, visible)
  const signature: unknown = Array.isArray(params.signature) ? params.signature[0] : undefined
  if (content === null || typeof signature !== 'string') {
    throw new WalletError('the transaction cannot be read')
  }
  const transaction = {
    ...assembleTransaction(content),
    signature: signature.replace(/^0x/, '').toLowerCase(),
  }
  const { txid } = transaction
  const forced: AdmissionError | null =
    code_forced === null ? null : { code: code_forced, message: 'simulated refusal' }
  const refusal = forced ?? chain.admissionError(transaction)
  if (refusal !== null) {
    return { code: refusal.code, txid, message: hexMessage(refusal.message) }
  }
  chain.pool.push(transaction)
  // There is no code in a success: stock clients treat any code as a failure.
  return { result: true, txid }
}

function assembleTransaction(content: RawData): Omit<Transaction, 'signature'> {
  const raw = rawBytes(content)
  return { txid: txidOf(raw), content, raw: bytesToHex(raw) }
}

/** References the solidified block, which no fork can remove. */
export function newContent(chain: Chain, contract: TronContract, fee_limit_sun: bigint): RawData {
  const reference = chain.blocks.get(chain.solidNumber()) ?? chain.head
  return {
    ...referenceOf(reference),
    expiration_ms: chain.head.timestamp_ms + LIFETIME_MS,
    timestamp_ms: chain.now(),
    fee_limit_sun,
    contract,
  }
}

function simulateCall(request: WalletRequest): {
  result: AssetCallResult
  built: Omit<Transaction, 'signature'>
} {
  const built = buildCall(request)
  const { contract } = built.content
  if (contract.type !== 'TriggerSmartContract') throw new WalletError('not a contract call')
  const asset = request.view.chain.assets.get(bytesToHex(contract.contract))
  if (asset === undefined) throw new ContractCallError('No contract or not a valid smart contract')
  const call = { caller: bytesToHex(contract.owner), data: contract.data }
  return { result: callAsset(request.view.state, asset, call), built }
}

function buildCall(request: WalletRequest): Omit<Transaction, 'signature'> {
  const { chain } = request.view
  const contract_address = addressParameter(request, 'contract_address')
  if (!chain.assets.has(contract_address)) {
    throw new ContractCallError('No contract or not a valid smart contract')
  }
  const contract: TronContract = {
    type: 'TriggerSmartContract',
    owner: hexToBytes(addressParameter(request, 'owner_address')),
    contract: hexToBytes(contract_address),
    call_value_sun: amountParameter(request, 'call_value'),
    data: callData(request),
  }
  return assembleTransaction({
    ...newContent(chain, contract, amountParameter(request, 'fee_limit')),
    ...permission(request),
  })
}

function callData({ params }: WalletRequest): Uint8Array {
  const { function_selector, parameter = '', data } = params
  const words = hexOf(function_selector === undefined ? data : parameter)
  if (words === null) throw new WalletError('INVALID parameter')
  if (typeof function_selector !== 'string') return words
  return concatBytes(hexToBytes(selectorOf(function_selector)), words)
}

function validateAndBuild(request: WalletRequest, contract: TronContract): unknown {
  const { chain } = request.view
  const built = assembleTransaction({ ...newContent(chain, contract, 0n), ...permission(request) })
  const refusal = chain.admissionError({ ...built, signature: '' }, { unsigned: true })
  if (refusal !== null) throw new WalletError(refusal.message)
  return transactionJson(built, request.visible)
}

function permission(request: WalletRequest): { permission_id?: number } {
  const id = amountParameter(request, 'Permission_id')
  return id === 0n ? {} : { permission_id: Number(id) }
}

function amountParameter(request: WalletRequest, name: string): bigint {
  const amount = amountOf(request.params[name])
  if (amount === null) throw new WalletError(`INVALID ${name}`)
  return amount
}
