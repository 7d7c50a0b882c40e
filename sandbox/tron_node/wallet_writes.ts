import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { RESOURCES, type TronContract } from '#rails/chain/tron/contract.ts'
import { type RawData, rawBytes, referenceOf, txidOf } from '#rails/chain/tron/transaction.ts'
import { amountOf, hexOf, rawDataFromJson } from '#rails/chain/tron/transaction_json.ts'
import { selectorOf } from '#rails/chain/tron/trc20.ts'
import type { Refusal } from './admission.ts'
import { type AssetAnswer, callAsset } from './asset.ts'
import type { Transaction } from './block.ts'
import type { Chain } from './chain.ts'
import { type Ask, AskError, addressParameter, CallError, type WalletCall } from './wallet_reads.ts'
import { hexSentence, transactionJson } from './wallet_shapes.ts'

/** A node gives what it builds a minute to live. */
const LIFETIME_MS = 60_000

/** Calls that only compute; they exist under /walletsolidity too. */
export const constant_calls: Record<string, WalletCall> = {
  triggerconstantcontract: (ask) => {
    const { answer, built } = tried(ask)
    const { visible: _, ...transaction } = transactionJson(built, ask.visible)
    const ret = answer.ok ? {} : { ret: 'FAILED' }
    return {
      result: { result: true, ...(answer.ok ? {} : { message: hexSentence(answer.reason) }) },
      energy_used: answer.energy,
      constant_result: [answer.returned],
      transaction: { ret: [ret], visible: ask.visible, ...transaction },
    }
  },
  estimateenergy: (ask) => {
    const { answer } = tried(ask)
    if (answer.ok) return { result: { result: true }, energy_required: answer.energy }
    return { result: { code: 'CONTRACT_EXE_ERROR', message: hexSentence(answer.reason) } }
  },
}

/** Calls that build a transaction for its owner to sign. */
export const building_calls: Record<string, WalletCall> = {
  triggersmartcontract: (ask) => {
    const built = builtCall(ask)
    return { result: { result: true }, transaction: transactionJson(built, ask.visible) }
  },
  createtransaction: (ask) => {
    const [owner, to] = [
      addressParameter(ask, 'owner_address'),
      addressParameter(ask, 'to_address'),
    ]
    const amount_sun = amountParameter(ask, 'amount')
    const type = 'TransferContract'
    return validated(ask, { type, owner: hexToBytes(owner), to: hexToBytes(to), amount_sun })
  },
  delegateresource: (ask) => {
    const resource = RESOURCES.find((name) => name === (ask.params.resource ?? 'BANDWIDTH'))
    if (resource === undefined) throw new AskError('INVALID resource')
    return validated(ask, {
      type: 'DelegateResourceContract',
      owner: hexToBytes(addressParameter(ask, 'owner_address')),
      receiver: hexToBytes(addressParameter(ask, 'receiver_address')),
      resource,
      balance_sun: amountParameter(ask, 'balance'),
    })
  },
}

/**
 * Rebuilds the bytes from the JSON and believes nothing else of it: the txid and raw_data_hex that
 * come along are not looked at, so changed content shows as a signature that does not fit.
 */
export function broadcastJson(
  chain: Chain,
  { params, visible }: Ask,
  code_forced: string | null,
): Record<string, unknown> {
  const content = rawDataFromJson(params.raw_data, visible)
  const signature: unknown = Array.isArray(params.signature) ? params.signature[0] : undefined
  if (content === null || typeof signature !== 'string') {
    throw new AskError('the transaction cannot be read')
  }
  const transaction = {
    ...assembled(content),
    signature: signature.replace(/^0x/, '').toLowerCase(),
  }
  const { txid } = transaction
  const forced: Refusal | null =
    code_forced === null ? null : { code: code_forced, sentence: 'told to refuse' }
  const refusal = forced ?? chain.refusal(transaction)
  if (refusal !== null) {
    return { code: refusal.code, txid, message: hexSentence(refusal.sentence) }
  }
  chain.pool.push(transaction)
  // There is no code in a success: stock clients take any code for a failure.
  return { result: true, txid }
}

export function assembled(content: RawData): Omit<Transaction, 'signature'> {
  const raw = rawBytes(content)
  return { txid: txidOf(raw), content, raw: bytesToHex(raw) }
}

/** Built on the solidified block, so that no fork can take the reference away. */
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

function tried(ask: Ask): { answer: AssetAnswer; built: Omit<Transaction, 'signature'> } {
  const built = builtCall(ask)
  const { contract } = built.content
  if (contract.type !== 'TriggerSmartContract') throw new AskError('not a contract call')
  const asset = ask.view.chain.assets.get(bytesToHex(contract.contract))
  if (asset === undefined) throw new CallError('No contract or not a valid smart contract')
  const call = { caller: bytesToHex(contract.owner), data: contract.data }
  return { answer: callAsset(ask.view.world, asset, call), built }
}

function builtCall(ask: Ask): Omit<Transaction, 'signature'> {
  const { chain } = ask.view
  const contract_address = addressParameter(ask, 'contract_address')
  if (!chain.assets.has(contract_address)) {
    throw new CallError('No contract or not a valid smart contract')
  }
  const contract: TronContract = {
    type: 'TriggerSmartContract',
    owner: hexToBytes(addressParameter(ask, 'owner_address')),
    contract: hexToBytes(contract_address),
    call_value_sun: amountParameter(ask, 'call_value'),
    data: callData(ask),
  }
  return assembled({
    ...newContent(chain, contract, amountParameter(ask, 'fee_limit')),
    ...permission(ask),
  })
}

function callData({ params }: Ask): Uint8Array {
  const { function_selector, parameter = '', data } = params
  const words = hexOf(function_selector === undefined ? data : parameter)
  if (words === null) throw new AskError('INVALID parameter')
  if (typeof function_selector !== 'string') return words
  return concatBytes(hexToBytes(selectorOf(function_selector)), words)
}

function validated(ask: Ask, contract: TronContract): unknown {
  const { chain } = ask.view
  const built = assembled({ ...newContent(chain, contract, 0n), ...permission(ask) })
  const refusal = chain.refusal({ ...built, signature: '' }, { unsigned: true })
  if (refusal !== null) throw new AskError(refusal.sentence)
  return transactionJson(built, ask.visible)
}

function permission(ask: Ask): { permission_id?: number } {
  const id = amountParameter(ask, 'Permission_id')
  return id === 0n ? {} : { permission_id: Number(id) }
}

function amountParameter(ask: Ask, name: string): bigint {
  const amount = amountOf(ask.params[name])
  if (amount === null) throw new AskError(`INVALID ${name}`)
  return amount
}
