import { encodeErrorResult, type Hex, isAddress, isHex, numberToHex, parseAbi } from 'viem'
import { CHAIN_ID, USDC } from '#rails/x402/requirement.ts'
import {
  INVALID_REQUEST,
  invalidParams,
  METHOD_NOT_FOUND,
  RpcError,
} from '#sandbox/tron_node/rpc_error.ts'
import { BASE_FEE_WEI, type Block, CALL_GAS, type EvmChain, TIP_WEI } from './chain.ts'
import { type CallResult, Reverted } from './coin.ts'
import { aggregate, MULTICALL } from './multicall.ts'
import { blockJson, logsJson, receiptJson, transactionJson } from './shapes.ts'

type Params = readonly unknown[]
type Method = (chain: EvmChain, params: Params) => unknown

/** Placeholder code for callers that only check whether there is any. */
const CODE = '0x60806040'
const NOBODY: Hex = `0x${'00'.repeat(20)}`
/** The finalized block is a few blocks behind the head, as on Base. */
const FINALIZED_BEHIND = 5

const methods: Record<string, Method> = {
  eth_chainId: () => numberToHex(CHAIN_ID),
  net_version: () => String(CHAIN_ID),
  web3_clientVersion: () => 'florin-sandbox/base',
  eth_syncing: () => false,
  eth_gasPrice: () => numberToHex(BASE_FEE_WEI + TIP_WEI),
  eth_maxPriorityFeePerGas: () => numberToHex(TIP_WEI),
  eth_blockNumber: (chain) => numberToHex(chain.head.number),
  eth_getBlockByNumber: (chain, [tag, full]) => {
    const block = chain.blocks[numberOf(chain, tag)]
    return block === undefined ? null : blockJson(atCurrentTime(chain, block), full === true, chain)
  },
  eth_getBlockByHash: (chain, [hash, full]) => {
    const block = chain.blocks.find((one) => one.hash === hash)
    return block === undefined ? null : blockJson(block, full === true, chain)
  },
  eth_getBalance: (chain, [address]) => numberToHex(chain.state.weiOf(addressOf(address))),
  eth_getTransactionCount: (chain, [address]) =>
    numberToHex(chain.state.nonceOf(addressOf(address))),
  eth_getCode: (_chain, [address]) =>
    [USDC, MULTICALL].some((known) => known.toLowerCase() === addressOf(address).toLowerCase())
      ? CODE
      : '0x',
  eth_call: async (chain, [call]) => (await callContract(chain, call)).returned,
  eth_estimateGas: async (chain, [call]) => {
    await callContract(chain, call)
    return numberToHex(CALL_GAS)
  },
  eth_sendRawTransaction: (chain, [raw]) => chain.send(hexOf(raw)),
  eth_getTransactionByHash: (chain, [hash]) => {
    const mined = chain.find(hexOf(hash))
    return mined === null ? null : transactionJson(mined, chain)
  },
  eth_getTransactionReceipt: (chain, [hash]) => {
    const mined = chain.find(hexOf(hash))
    return mined === null ? null : receiptJson(mined, chain)
  },
  eth_getLogs: (chain, [filter]) => findLogs(chain, filter),
}

export async function respondToRpc(chain: EvmChain, body: unknown): Promise<unknown> {
  if (Array.isArray(body)) return Promise.all(body.map((one) => respondToOne(chain, one)))
  return respondToOne(chain, body)
}

async function respondToOne(chain: EvmChain, body: unknown): Promise<unknown> {
  const { id = null, method, params = [] } = (body ?? {}) as Record<string, unknown>
  const respond = (content: object) => ({ jsonrpc: '2.0', id, ...content })
  try {
    if (typeof method !== 'string' || !Array.isArray(params)) {
      throw new RpcError(INVALID_REQUEST, 'invalid request')
    }
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (handler === undefined) {
      throw new RpcError(METHOD_NOT_FOUND, `the method ${method} does not exist`)
    }
    return respond({ result: await handler(chain, params) })
  } catch (cause) {
    if (cause instanceof Reverted) return respond({ error: revertError(cause.message) })
    if (!(cause instanceof RpcError)) throw cause
    return respond({ error: { code: cause.code, message: cause.message } })
  }
}

const error_abi = parseAbi(['error Error(string)'])

/** A node's error for a revert: a message and the encoded contract error. */
const revertError = (reason: string) => ({
  code: 3,
  message: `execution reverted: ${reason}`,
  data: encodeErrorResult({ abi: error_abi, errorName: 'Error', args: [reason] }),
})

async function callContract(chain: EvmChain, call: unknown): Promise<Pick<CallResult, 'returned'>> {
  const { to, from = NOBODY, data, input = data } = (call ?? {}) as Record<string, unknown>
  const target = addressOf(to).toLowerCase()
  const caller = addressOf(from)
  if (target === USDC.toLowerCase()) return chain.call(caller, hexOf(input))
  if (target === MULTICALL.toLowerCase()) {
    return { returned: await aggregate(chain, caller, hexOf(input)) }
  }
  return { returned: '0x' }
}

/** The head block gets the current time, because an idle chain has no new blocks. */
function atCurrentTime(chain: EvmChain, block: Block): Block {
  return block === chain.head ? { ...block, time_s: chain.time_s() } : block
}

function numberOf(chain: EvmChain, tag: unknown): number {
  const { number } = chain.head
  if (tag === undefined || tag === 'latest' || tag === 'pending') return number
  if (tag === 'safe' || tag === 'finalized') return Math.max(0, number - FINALIZED_BEHIND)
  if (tag === 'earliest') return 0
  return Number(hexOf(tag))
}

function addressOf(value: unknown): Hex {
  if (typeof value === 'string' && isAddress(value, { strict: false })) return value
  throw invalidParams('invalid address')
}

function hexOf(value: unknown): Hex {
  if (isHex(value)) return value
  throw invalidParams('invalid hex')
}

type Filter = { fromBlock?: unknown; toBlock?: unknown; address?: unknown; topics?: unknown }

function findLogs(chain: EvmChain, given: unknown): unknown[] {
  const { fromBlock, toBlock, address, topics = [] } = (given ?? {}) as Filter
  const wanted = [address ?? []].flat().map((one) => addressOf(one).toLowerCase())
  const slots = (topics as unknown[]).map((slot) => (slot === null ? null : [slot].flat()))
  const blocks = chain.blocks.slice(numberOf(chain, fromBlock), numberOf(chain, toBlock) + 1)
  return blocks
    .flatMap(({ mined }) => (mined === null ? [] : logsJson(mined, chain)))
    .filter((log) => {
      const { address: at, topics: has } = log as { address: string; topics: Hex[] }
      const isFrom = wanted.length === 0 || wanted.includes(at.toLowerCase())
      return isFrom && slots.every((slot, index) => slot === null || slot.includes(has[index]))
    })
}
