import { type Micros, microsFromUsd, usdFromMicros } from '#kernel/money.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Database } from '#platform/postgres/db.ts'
import { type Chain, type ChainAsset, chainsOf } from '#rails/chain/chain.ts'
import { finalCustodyOn } from '#rails/chain/custody.ts'
import type { Settings } from '#settings/settings.ts'
import {
  type CustodyBooks,
  findCustodyBooks,
  sumRemainingBalances,
  findUnsweptAddresses,
} from './custody_store.ts'

export type ChainDifference = {
  chain: string
  asset: string
  /** What the books say we keep: received and not sent. */
  ledger_usd: number
  /** Signed and perhaps out, and not final: the coins may have left before the books say so. */
  in_flight_usd: number
  /** The operator's own coins in the hot wallet, as the settings declare them. */
  float_usd: number
  /** What the chain says that we hold for good; null where it could not be asked. */
  on_chain_usd: number | null
  /** On the chain less the float and less the books. Above zero: coins the books do not know. */
  difference_usd: number | null
  /** True where not even the float makes up for what the books say we keep. */
  is_short: boolean
  fault: string | null
}

/** An address costs a question; those beyond are small, and the books are believed about them. */
const ADDRESSES_MAX = 1_000

/** The books against the coins that are there, asset by asset. A chain that is away says so. */
export async function compareCustody(
  { db, settings }: { db: Database; settings: Settings },
  fetch: NodeFetch,
): Promise<ChainDifference[]> {
  const books = await findCustodyBooks(db)
  const differences: ChainDifference[] = []
  for (const chain of chainsOf(settings.chains).values()) {
    for (const one of chain.assets) {
      const known = books.find(
        ({ asset, chain: name }) => name === chain.name && asset === one.asset,
      )
      const held = await sumOnChain({ db, fetch }, chain, one).catch((cause: unknown) =>
        cause instanceof Error ? cause : new Error(String(cause)),
      )
      differences.push(differenceOf({ chain, asset: one, known, held }))
    }
  }
  return differences
}

async function sumOnChain(
  { db, fetch }: { db: Database; fetch: NodeFetch },
  { name, settings, hot_wallet, cold_wallets }: Chain,
  { asset, contract }: ChainAsset,
): Promise<Micros> {
  const asked = { chain: name, asset, count_max: ADDRESSES_MAX }
  const addresses = [hot_wallet, ...cold_wallets, ...(await findUnsweptAddresses(db, asked))]
  const balanceOf = await finalCustodyOn(settings, fetch)
  let sum = await sumRemainingBalances(db, asked)
  for (const address of addresses) sum += await balanceOf(contract, address)
  return sum
}

type Compared = {
  chain: Chain
  asset: ChainAsset
  known: CustodyBooks | undefined
  held: Micros | Error
}

function differenceOf({ chain, asset, known, held }: Compared): ChainDifference {
  const ledger = known?.custody_micros ?? 0n
  const in_flight = known?.in_flight_micros ?? 0n
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
