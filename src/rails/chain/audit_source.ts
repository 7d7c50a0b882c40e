import { bytesToHex } from '@noble/hashes/utils.js'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Chain } from './chain.ts'
import {
  type AssetTransfer,
  type BlockHeader,
  type ChainReceipt,
  depositSource,
  receiptOf,
} from './deposit_source.ts'
import {
  hexOf,
  type JsonRpc,
  jsonRpc,
  listOf,
  malformedResponse,
  objectOf,
  quantity,
  RpcError,
} from './json_rpc.ts'
import { tronHttpApi } from './tron/http_api.ts'
import type { TronLog } from './tron/http_responses.ts'
import { readNumberWord, TRANSFER_TOPIC } from './tron/trc20.ts'

/**
 * Verifies the log index: reads the receipts of whole blocks, from another node if one is
 * configured. An incomplete log index returns nothing and no error.
 */
export type AuditSource = {
  finalNumber(): Promise<number>
  block(number: number): Promise<BlockHeader | null>
  /** The receipts of all successful transactions of a final block. */
  receipts(number: number): Promise<AuditedReceipt[]>
}

/** Other logs are null, so that an index in `transfers` is the log's ordinal. */
export type AuditedReceipt = { txid: string; transfers: readonly (AssetTransfer | null)[] }

export function auditSource({ settings }: Chain, fetch: NodeFetch): AuditSource {
  const { audit_url, audit_headers, ...others } = settings
  const audited =
    audit_url === null ? settings : { ...others, url: audit_url, headers: audit_headers }
  const node = { url: audited.url, headers: { ...audited.headers }, fetch }
  if (settings.family === 'tron') return tronSource(tronHttpApi(node))
  const source = depositSource({ ...settings, ...audited }, fetch)
  const rpc = jsonRpc(node, '')
  return {
    finalNumber: async () => (await source.finalized()).number,
    block: source.block,
    receipts: async (number) => {
      const receipts = await evmReceipts(rpc, number)
      return receipts
        .filter(({ ok }) => ok)
        .map(({ txid, logs }) => ({ txid, transfers: logs.map(({ transfer }) => transfer) }))
    },
  }
}

function tronSource(api: ReturnType<typeof tronHttpApi>): AuditSource {
  return {
    finalNumber: async () => (await api.now('solid')).number,
    block: async (number) => {
      const block = await api.block(number)
      return block === null ? null : { ...block, hash: block.id }
    },
    receipts: async (number) => {
      const receipts = await api.receiptsOfBlock(number, 'solid')
      return receipts
        .filter(({ ok }) => ok)
        .map(({ txid, logs }) => ({ txid, transfers: logs.map(tronTransferOf) }))
    },
  }
}

function tronTransferOf({ address, topics, data }: TronLog): AssetTransfer | null {
  const [kind, from = '', to = ''] = topics
  if (kind !== TRANSFER_TOPIC || topics.length !== 3 || data.length !== 32) return null
  return {
    contract: bytesToHex(address),
    from: from.slice(24),
    to: to.slice(24),
    value: readNumberWord(data),
  }
}

/** Reads receipts one by one from nodes without eth_getBlockReceipts. */
async function evmReceipts(rpc: JsonRpc, number: number): Promise<ChainReceipt[]> {
  try {
    const response = await rpc('eth_getBlockReceipts', [quantity(number)])
    return listOf(response, 'receipts of a block').map(requireReceipt)
  } catch (cause) {
    if (!(cause instanceof RpcError)) throw cause
  }
  const block = objectOf(await rpc('eth_getBlockByNumber', [quantity(number), false]), 'a block')
  const receipts: ChainReceipt[] = []
  for (const entry of listOf(block['transactions'], 'transactions')) {
    const txid = hexOf(entry, 32, 'a txid')
    receipts.push(requireReceipt(await rpc('eth_getTransactionReceipt', [`0x${txid}`])))
  }
  return receipts
}

function requireReceipt(response: unknown): ChainReceipt {
  const receipt = receiptOf(response)
  if (receipt === null) throw malformedResponse('a receipt')
  return receipt
}
