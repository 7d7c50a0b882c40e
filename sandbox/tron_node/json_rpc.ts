import { hexToBytes } from '@noble/hashes/utils.js'
import { isObject } from '#rails/chain/tron/transaction_json.ts'
import { type AssetCallResult, callAsset } from './asset.ts'
import type { Block } from './block.ts'
import { keys } from './chain_state.ts'
import type { Faults } from './faults.ts'
import { ENERGY_SUN } from './resources.ts'
import {
  INVALID_REQUEST,
  invalidParams,
  METHOD_NOT_FOUND,
  RpcError,
  SERVER_ERROR,
} from './rpc_error.ts'
import { getLogs } from './rpc_logs.ts'
import { addressOf, blockNumberOf, hashOf, requireLatest } from './rpc_params.ts'
import { quantity, rpcBlock, rpcReceipt, rpcTransaction } from './rpc_shapes.ts'
import type { View } from './view.ts'

const BATCH_MAX = 100

/** Placeholder code for callers that only check whether there is any. */
const CONTRACT_CODE = '0x60806040'

type Params = readonly unknown[]
type Method = (view: View, params: Params) => unknown

/** The methods of a TRON node. It has no nonces and accepts transactions only over HTTP. */
const methods: Record<string, Method> = {
  eth_chainId: (view) => quantity(view.chain.chain_id),
  net_version: (view) => quantity(view.chain.chain_id),
  net_listening: () => true,
  eth_syncing: () => false,
  web3_clientVersion: () => 'TRON/florin-sandbox',
  eth_gasPrice: () => quantity(ENERGY_SUN),
  eth_blockNumber: (view) => quantity(view.head_number),
  eth_getBlockByNumber: (view, [tag, full]) =>
    blockOrNull(view.block(blockNumberOf(view, tag)), full),
  eth_getBlockByHash: (view, [hash, full]) => blockOrNull(view.blockById(hashOf(hash)), full),
  eth_getBlockTransactionCountByNumber: (view, [tag]) => {
    const block = view.block(blockNumberOf(view, tag))
    return block === null ? null : quantity(block.mined.length)
  },
  eth_getBlockReceipts: (view, [tag]) => {
    const isHash = typeof tag === 'string' && tag.length > 60
    const block = isHash ? view.blockById(hashOf(tag)) : view.block(blockNumberOf(view, tag))
    return block?.mined.map((mined, index) => rpcReceipt({ block, mined, index })) ?? null
  },
  eth_getTransactionByHash: (view, [hash]) => {
    const located = view.find(hashOf(hash))
    return located === null ? null : rpcTransaction(located)
  },
  eth_getTransactionReceipt: (view, [hash]) => {
    const located = view.find(hashOf(hash))
    return located === null ? null : rpcReceipt(located)
  },
  eth_getLogs: getLogs,
  eth_getBalance: (view, [address, tag]) => {
    requireLatest(tag)
    return quantity(view.state.get(keys.trx(addressOf(address))))
  },
  eth_getCode: (view, [address, tag]) => {
    requireLatest(tag)
    return view.chain.assets.has(addressOf(address)) ? CONTRACT_CODE : '0x'
  },
  eth_call: (view, [call, tag]) => {
    requireLatest(tag)
    return `0x${callContract(view, call)?.returned ?? ''}`
  },
  eth_estimateGas: (view, [call]) => quantity(callContract(view, call)?.energy ?? 0),
}

/** Handles a request or a batch. */
export function respondToRpc(view: View, body: unknown, faults: Faults): unknown {
  if (!Array.isArray(body)) return respondToOne(view, body, faults)
  if (body.length === 0 || body.length > BATCH_MAX) {
    return envelope(null, { error: { code: INVALID_REQUEST, message: 'bad batch size' } })
  }
  return body.map((one: unknown) => respondToOne(view, one, faults))
}

function respondToOne(view: View, body: unknown, faults: Faults): unknown {
  if (!isObject(body) || typeof body.method !== 'string') {
    return envelope(null, { error: { code: INVALID_REQUEST, message: 'invalid request' } })
  }
  const { id = null, method: name, params = [] } = body
  try {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    if (method === undefined) {
      throw new RpcError(METHOD_NOT_FOUND, `the method ${name} does not exist/is not available`)
    }
    if (!Array.isArray(params)) throw invalidParams('params are a list')
    const result = method(view, params)
    const isLost = name === 'eth_getLogs' && faults.take('lost_logs', () => true) !== null
    return envelope(id, { result: isLost ? [] : result })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return envelope(id, { error: { code: error.code, message: error.message, data: '{}' } })
  }
}

function envelope(id: unknown, content: Record<string, unknown>): unknown {
  return { jsonrpc: '2.0', id, ...content }
}

function blockOrNull(block: Block | null, full: unknown): unknown {
  return block === null ? null : rpcBlock(block, full === true)
}

/** Null if there is no contract at the address. */
function callContract(view: View, call: unknown): AssetCallResult | null {
  if (!isObject(call)) throw invalidParams('a call is required')
  const asset = view.chain.assets.get(addressOf(call.to))
  const data = call.input ?? call.data ?? '0x'
  if (typeof data !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(data)) {
    throw invalidParams('invalid data')
  }
  if (asset === undefined) return null
  const caller = call.from === undefined ? '00'.repeat(20) : addressOf(call.from)
  const result = callAsset(view.state, asset, { caller, data: hexToBytes(data.slice(2)) })
  if (!result.ok) throw new RpcError(SERVER_ERROR, result.reason)
  return result
}
