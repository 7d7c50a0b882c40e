import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { bytesFromTronAddress, tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import type { Block, Log } from './block.ts'
import type { View } from './view.ts'

/**
 * The indexer's API under /v1. The cursor of a page is a fingerprint, here the number of rows
 * before it. Real indexers lag and lose rows, so the service does not rely on them.
 */
type Query = URLSearchParams
type Row = { block: Block; txid: string; log: Log; ordinal: number }

const ROWS_DEFAULT = 20
const ROWS_MAX = 200

export function contractEvents(view: View, address: string, query: Query): unknown {
  const contract = bytesFromTronAddress(address)
  if (contract === null) return { success: false, error: 'A valid address is required' }
  const rows = rowsOf(view, query).filter(({ log }) => log.address === bytesToHex(contract))
  return page(
    view,
    inOrder(rows, query.get('order_by') ?? 'block_timestamp,desc'),
    query,
    eventJson,
  )
}

export function transactionEvents(view: View, txid: string, query: Query): unknown {
  const rows = rowsOf(view, query).filter((row) => row.txid === txid)
  return page(view, rows, query, eventJson)
}

export function accountTransfers(view: View, address: string, query: Query): unknown {
  const account = bytesFromTronAddress(address)
  if (account === null) return { success: false, error: 'A valid address is required' }
  const topic = bytesToHex(account).padStart(64, '0')
  const contract = query.get('contract_address')
  const rows = rowsOf(view, query).filter(({ log }) => {
    const [, from, to] = log.topics
    const isTheirs = to === topic || (query.get('only_to') !== 'true' && from === topic)
    return isTheirs && (contract === null || base58(log.address) === contract)
  })
  return page(
    view,
    inOrder(rows, query.get('order_by') ?? 'block_timestamp,desc'),
    query,
    transferJson,
  )
}

function rowsOf(view: View, query: Query): Row[] {
  const confirmed_only = query.get('only_confirmed') === 'true'
  const block_number = query.get('block_number')
  const name = query.get('event_name')
  const [from_ms, to_ms] = ['min', 'max'].map((edge) => query.get(`${edge}_block_timestamp`))
  const rows: Row[] = []
  for (const block of view.keptBlocks(0, view.limit)) {
    if (confirmed_only && block.number > view.solid_number) continue
    if (query.get('only_unconfirmed') === 'true' && block.number <= view.solid_number) continue
    if (block_number !== null && Number(block_number) !== block.number) continue
    if (block.timestamp_ms < Number(from_ms ?? 0)) continue
    if (block.timestamp_ms > Number(to_ms ?? Number.MAX_SAFE_INTEGER)) continue
    for (const { txid, receipt } of block.mined) {
      for (const [ordinal, log] of receipt.logs.entries()) rows.push({ block, txid, log, ordinal })
    }
  }
  return name === null || name === 'Transfer' ? rows : []
}

function inOrder(rows: Row[], order: string): Row[] {
  return order.endsWith('asc') ? rows : rows.toReversed()
}

function page(
  view: View,
  rows: Row[],
  query: Query,
  shape: (view: View, row: Row) => unknown,
): unknown {
  const start = Number(query.get('fingerprint') ?? 0)
  const size = Math.min(Math.max(1, Number(query.get('limit') ?? ROWS_DEFAULT)), ROWS_MAX)
  const shown = rows.slice(start, start + size)
  const fingerprint = start + size < rows.length ? { fingerprint: String(start + size) } : {}
  return {
    success: true,
    data: shown.map((row) => shape(view, row)),
    meta: { at: view.chain.now(), page_size: shown.length, ...fingerprint },
  }
}

function eventJson(view: View, { block, txid, log, ordinal }: Row): unknown {
  const [from, to] = [log.topics[1], log.topics[2]].map((topic) => `0x${topic?.slice(24)}`)
  const value = BigInt(`0x${log.data}`).toString()
  return {
    block_number: block.number,
    block_timestamp: block.timestamp_ms,
    caller_contract_address: base58(log.address),
    contract_address: base58(log.address),
    event_index: ordinal,
    event_name: 'Transfer',
    event: 'Transfer(address indexed from, address indexed to, uint256 value)',
    result: { 0: from, 1: to, 2: value, from, to, value },
    result_type: { from: 'address', to: 'address', value: 'uint256' },
    transaction_id: txid,
    ...(block.number > view.solid_number ? { _unconfirmed: true } : {}),
  }
}

function transferJson(view: View, { block, txid, log }: Row): unknown {
  const asset = view.chain.assets.get(log.address)
  const [from, to] = [log.topics[1], log.topics[2]].map((topic) => base58(topic?.slice(24) ?? ''))
  return {
    transaction_id: txid,
    token_info: {
      symbol: asset?.symbol,
      address: base58(log.address),
      decimals: asset?.decimals,
      name: asset?.name,
    },
    block_timestamp: block.timestamp_ms,
    from,
    to,
    type: 'Transfer',
    value: BigInt(`0x${log.data}`).toString(),
  }
}

function base58(address: string): string {
  return tronAddressFromBytes(hexToBytes(address))
}
