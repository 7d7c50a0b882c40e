import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { ChainSettings } from './chain_settings.ts'
import {
  hexOf,
  type JsonRpc,
  jsonRpc,
  listOf,
  malformedResponse,
  numberOf,
  objectOf,
  quantity,
  quantityOf,
  RpcError,
} from './json_rpc.ts'
import { selectorOf, TRANSFER_TOPIC } from './tron/trc20.ts'

/**
 * Reads transfers of assets from a chain. TRON and EVM chains share it, because both serve
 * Ethereum's JSON-RPC. Hashes, txids and addresses are lowercase hex digits without 0x.
 */
export type DepositSource = {
  chainId(): Promise<number>
  /** The contract's decimals(); null if it has no such function. */
  decimals(contract: string): Promise<number | null>
  head(): Promise<BlockHeader>
  finalized(): Promise<BlockHeader>
  block(number: number): Promise<BlockHeader | null>
  /** Transfer logs of these contracts to these addresses; null for any address. */
  logs(range: BlockRange, filter: LogFilter): Promise<TransferLog[]>
  receipt(txid: string): Promise<ChainReceipt | null>
}

export type BlockHeader = { number: number; hash: string; timestamp_ms: number }
type BlockRange = { from: number; to: number }
type LogFilter = { contracts: readonly string[]; to: readonly string[] | null }

/** The content of a Transfer log. */
export type AssetTransfer = { contract: string; from: string; to: string; value: bigint }

export type TransferLog = AssetTransfer & {
  txid: string
  block_number: number
  block_hash: string
  log_index: number
}

export type ChainReceipt = {
  txid: string
  ok: boolean
  block_number: number
  block_hash: string
  /** In order: the index is the log's ordinal in the transaction. */
  logs: readonly ReceiptLog[]
}

type ReceiptLog = { log_index: number; transfer: AssetTransfer | null }

/** java-tron allows 5,000 blocks and 1,000 topics; hosted EVM nodes often allow less. */
const BLOCKS_MAX = 2_000
const TOPICS_MAX = 1_000

/** The error codes of nodes for a range with too many results. */
const TOO_MANY_RESULTS_CODES = [-32005, -32602, -32000]

export function depositSource(chain: ChainSettings, fetch: NodeFetch): DepositSource {
  const settings = { url: chain.url, headers: { ...chain.headers }, fetch }
  const rpc = jsonRpc(settings, chain.family === 'tron' ? 'jsonrpc' : '')
  const head = async () => requireBlock(await block(rpc, 'latest'))
  return {
    chainId: async () => numberOf(await rpc('eth_chainId', []), 'a chain id'),
    decimals: (contract) => decimalsOf(rpc, contract),
    head,
    finalized: async () => {
      if (chain.finality === 'finalized') return requireBlock(await block(rpc, 'finalized'))
      const { number } = await head()
      const deep = Math.max(0, number - chain.confirmations + 1)
      return requireBlock(await block(rpc, quantity(deep)))
    },
    block: (number) => block(rpc, quantity(number)),
    logs: (range, filter) => readLogs(rpc, range, filter),
    receipt: async (txid) => receiptOf(await rpc('eth_getTransactionReceipt', [`0x${txid}`])),
  }
}

const DECIMALS_CALL = `0x${selectorOf('decimals()')}`

async function decimalsOf(rpc: JsonRpc, contract: string): Promise<number | null> {
  try {
    const call = { to: `0x${contract}`, data: DECIMALS_CALL }
    const response = await rpc('eth_call', [call, 'latest'])
    return typeof response === 'string' && response.length === 66
      ? numberOf(response, 'decimals')
      : null
  } catch (cause) {
    // A contract without the function reverts; an unreachable node throws another error.
    if (cause instanceof RpcError) return null
    throw cause
  }
}

async function block(rpc: JsonRpc, tag: string): Promise<BlockHeader | null> {
  const response = await rpc('eth_getBlockByNumber', [tag, false])
  if (response === null) return null
  const { number, hash, timestamp } = objectOf(response, 'a block')
  return {
    number: numberOf(number, 'a block number'),
    hash: hexOf(hash, 32, 'a block hash'),
    timestamp_ms: numberOf(timestamp, 'a block time') * 1_000,
  }
}

function requireBlock(found: BlockHeader | null): BlockHeader {
  if (found === null) throw malformedResponse('a block')
  return found
}

async function readLogs(
  rpc: JsonRpc,
  { from, to }: BlockRange,
  filter: LogFilter,
): Promise<TransferLog[]> {
  const found: TransferLog[] = []
  for (let start = from; start <= to; start += BLOCKS_MAX) {
    const range = { from: start, to: Math.min(to, start + BLOCKS_MAX - 1) }
    for (const to_topics of topicGroupsOf(filter.to)) {
      found.push(...(await readLogsOnce(rpc, range, filter.contracts, to_topics)))
    }
  }
  return found
}

function topicGroupsOf(to: readonly string[] | null): (string[] | null)[] {
  if (to === null) return [null]
  const topics = to.map((address) => `0x${address.padStart(64, '0')}`)
  const slots: string[][] = []
  for (let at = 0; at < topics.length; at += TOPICS_MAX) {
    slots.push(topics.slice(at, at + TOPICS_MAX))
  }
  return slots
}

/** Splits the range in halves if the node has too many results for one response. */
async function readLogsOnce(
  rpc: JsonRpc,
  { from, to }: BlockRange,
  contracts: readonly string[],
  to_topics: string[] | null,
): Promise<TransferLog[]> {
  const topics = [`0x${TRANSFER_TOPIC}`, null, ...(to_topics === null ? [] : [to_topics])]
  const address = contracts.map((contract) => `0x${contract}`)
  const query = { fromBlock: quantity(from), toBlock: quantity(to), address, topics }
  try {
    const response = listOf(await rpc('eth_getLogs', [query]), 'a list of logs')
    return response.flatMap((log) => transferLogOf(log) ?? [])
  } catch (cause) {
    if (!(cause instanceof RpcError) || !TOO_MANY_RESULTS_CODES.includes(cause.code) || from === to)
      throw cause
    const middle = Math.floor((from + to) / 2)
    const first = await readLogsOnce(rpc, { from, to: middle }, contracts, to_topics)
    return [...first, ...(await readLogsOnce(rpc, { from: middle + 1, to }, contracts, to_topics))]
  }
}

/** Null for other Transfer events, such as ERC-721's with four topics. */
function transferLogOf(value: unknown): TransferLog | null {
  const log = objectOf(value, 'a log')
  const transfer = assetTransferOf(log)
  if (transfer === null) return null
  return {
    ...transfer,
    txid: hexOf(log['transactionHash'], 32, 'a txid'),
    block_number: numberOf(log['blockNumber'], 'a block number'),
    block_hash: hexOf(log['blockHash'], 32, 'a block hash'),
    log_index: numberOf(log['logIndex'], 'a log index'),
  }
}

function assetTransferOf(log: Record<string, unknown>): AssetTransfer | null {
  const topics = listOf(log['topics'], 'topics').map((topic) => hexOf(topic, 32, 'a topic'))
  const [kind, from = '', to = ''] = topics
  const isOfAsset = typeof log['data'] === 'string' && log['data'].length === 66
  if (kind !== TRANSFER_TOPIC || topics.length !== 3 || !isOfAsset) return null
  return {
    contract: hexOf(log['address'], 20, 'a contract'),
    from: from.slice(24),
    to: to.slice(24),
    value: quantityOf(log['data'], 'a value'),
  }
}

export function receiptOf(response: unknown): ChainReceipt | null {
  if (response === null) return null
  const receipt = objectOf(response, 'a receipt')
  return {
    txid: hexOf(receipt['transactionHash'], 32, 'a txid'),
    ok: quantityOf(receipt['status'], 'a status') === 1n,
    block_number: numberOf(receipt['blockNumber'], 'a block number'),
    block_hash: hexOf(receipt['blockHash'], 32, 'a block hash'),
    logs: listOf(receipt['logs'], 'logs').map((one) => {
      const log = objectOf(one, 'a log')
      const log_index = numberOf(log['logIndex'], 'a log index')
      return { log_index, transfer: assetTransferOf(log) }
    }),
  }
}
