import { isObject } from '#rails/chain/tron/transaction_json.ts'
import type { Block, Log } from './block.ts'
import { invalidParams, LIMIT_EXCEEDED, RpcError } from './rpc_error.ts'
import { addressOf, blockNumberOf, hashOf } from './rpc_params.ts'
import { rpcLogs } from './rpc_shapes.ts'
import type { View } from './view.ts'

/** java-tron's defaults for eth_getLogs. */
const BLOCKS_MAX = 5_000
const ADDRESSES_MAX = 1_000
const TOPIC_SLOTS_MAX = 4
const TOPICS_MAX = 1_000
const HITS_MAX = 10_000

type Filter = { addresses: ReadonlySet<string> | null; topics: (ReadonlySet<string> | null)[] }

export function getLogs(view: View, params: readonly unknown[]): unknown[] {
  const [query] = params
  if (!isObject(query)) throw invalidParams('a filter is required')
  const filter = { addresses: addressesOf(query.address), topics: topicsOf(query.topics) }
  const hits: unknown[] = []
  for (const block of blocksOf(view, query)) {
    for (const [index, mined] of block.mined.entries()) {
      const shown = rpcLogs({ block, mined, index })
      for (const [at, log] of mined.receipt.logs.entries()) {
        if (matches(filter, log)) hits.push(shown[at])
      }
    }
    if (hits.length > HITS_MAX) {
      throw new RpcError(LIMIT_EXCEEDED, `query returned more than ${HITS_MAX} results`)
    }
  }
  return hits
}

function blocksOf(view: View, query: Record<string, unknown>): Block[] {
  const { blockHash, fromBlock = 'latest', toBlock = 'latest' } = query
  if (blockHash !== undefined) {
    if (query.fromBlock !== undefined || query.toBlock !== undefined) {
      throw invalidParams(
        'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
      )
    }
    const block = view.blockById(hashOf(blockHash))
    if (block === null) throw invalidParams('invalid blockHash')
    return [block]
  }
  const [from, to] = [blockNumberOf(view, fromBlock), blockNumberOf(view, toBlock)]
  if (from > to) throw invalidParams('please verify: fromBlock <= toBlock')
  if (to - from + 1 > BLOCKS_MAX) throw invalidParams(`exceed max block range: ${BLOCKS_MAX}`)
  return view.keptBlocks(from, to)
}

function addressesOf(value: unknown): ReadonlySet<string> | null {
  if (value === undefined || value === null) return null
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.length > ADDRESSES_MAX) throw invalidParams(`exceed max addresses: ${ADDRESSES_MAX}`)
  const addresses = list.map((item) => {
    return addressOf(item)
  })
  return addresses.length === 0 ? null : new Set(addresses)
}

function topicsOf(value: unknown): (ReadonlySet<string> | null)[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > TOPIC_SLOTS_MAX) {
    throw invalidParams('topics size should be <= 4')
  }
  return value.map((slot: unknown) => {
    if (slot === null) return null
    const list: unknown[] = Array.isArray(slot) ? slot : [slot]
    if (list.length > TOPICS_MAX) throw invalidParams(`exceed max topics: ${TOPICS_MAX}`)
    return list.length === 0 ? null : new Set(list.map(hashOf))
  })
}

function matches({ addresses, topics }: Filter, log: Log): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false
  return topics.every((slot, at) => slot === null || slot.has(log.topics[at] ?? ''))
}
