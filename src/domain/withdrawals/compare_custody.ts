import { type Micros, microsFromUsd, usdFromMicros } from '#kernel/money.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Chain, type ChainAsset, chainsOf } from '#rails/chain/chain.ts'
import { finalCustodyOn } from '#rails/chain/custody.ts'
import type { Settings } from '#settings/settings.ts'
import {
  type CustodyBooks,
  findCustodyBooks,
  findUnsweptAddresses,
  sumRemainingBalances,
} from './custody_store.ts'

export type ChainDifference = {
  chain: string
  asset: string
  /** Custody in the books: received minus sent. */
  ledger_usd: number
  /** Signed but not final: these coins may have left before the books say so. */
  in_flight_usd: number
  /** The operator's own coins in the hot wallet, from the settings. */
  float_usd: number
  /** Our balance in final blocks; null if the node did not respond. */
  on_chain_usd: number | null
  /** on_chain_usd minus float_usd minus ledger_usd. Above zero: coins that are not in the books. */
  difference_usd: number | null
  /** True if the chain holds less than the books, even counting the float. */
  is_short: boolean
  fault: string | null
}

/** Each address costs one request. For the smaller ones beyond this, the books are used. */
const ADDRESSES_MAX = 1_000

/**
 * Compares the books with the coins on each chain, by asset. The cells share the cold wallets, so
 * their books are added up. An unreachable node is a fault.
 */
export async function compareCustody(
  { dbs, settings }: { dbs: readonly Tx[]; settings: Settings },
  fetch: NodeFetch,
): Promise<ChainDifference[]> {
  if (dbs.length === 0) return []
  const books = (await Promise.all(dbs.map(findCustodyBooks))).flat()
  const differences: ChainDifference[] = []
  for (const chain of chainsOf(settings.chains).values()) {
    for (const one of chain.assets) {
      const of_asset = books.filter(
        ({ asset, chain: name }) => name === chain.name && asset === one.asset,
      )
      const held = await sumOnChain({ dbs, fetch }, chain, one).catch((cause: unknown) =>
        cause instanceof Error ? cause : new Error(String(cause)),
      )
      differences.push(differenceOf({ chain, asset: one, books: of_asset, held }))
    }
  }
  return differences
}

async function sumOnChain(
  { dbs, fetch }: { dbs: readonly Tx[]; fetch: NodeFetch },
  { name, settings, hot_wallets, cold_wallets }: Chain,
  { asset, contract }: ChainAsset,
): Promise<Micros> {
  const filter = { chain: name, asset, count_max: ADDRESSES_MAX }
  const unswept = await Promise.all(dbs.map((db) => findUnsweptAddresses(db, filter)))
  const remaining = await Promise.all(dbs.map((db) => sumRemainingBalances(db, filter)))
  const balanceOf = await finalCustodyOn(settings, fetch)
  let sum = sumOf(remaining)
  for (const address of [...hot_wallets, ...cold_wallets, ...unswept.flat()]) {
    sum += await balanceOf(contract, address)
  }
  return sum
}

type CustodyComparison = {
  chain: Chain
  asset: ChainAsset
  books: readonly CustodyBooks[]
  held: Micros | Error
}

const sumOf = (amounts: readonly Micros[]): Micros => amounts.reduce((sum, one) => sum + one, 0n)

function differenceOf({ chain, asset, books, held }: CustodyComparison): ChainDifference {
  const ledger = sumOf(books.map(({ custody_micros }) => custody_micros))
  const in_flight = sumOf(books.map(({ in_flight_micros }) => in_flight_micros))
  const float = microsFromUsd(asset.float_usd ?? 0)
  const isKnown = typeof held === 'bigint'
  return {
    chain: chain.name,
    asset: asset.asset,
    ledger_usd: usdFromMicros(ledger),
    in_flight_usd: usdFromMicros(in_flight),
    float_usd: usdFromMicros(float),
    on_chain_usd: isKnown ? usdFromMicros(held) : null,
    difference_usd: isKnown ? usdFromMicros(held - float - ledger) : null,
    is_short: isKnown && held < ledger - in_flight,
    fault: isKnown ? null : held.message,
  }
}
