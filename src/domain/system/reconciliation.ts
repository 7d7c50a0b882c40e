import { auditBooks, ledger_proofs } from '#domain/ledger/audit_books.ts'
import { chain_proofs } from '#domain/withdrawals/chain_proofs.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import type { Settings } from '#platform/config.ts'
import type { Database } from '#platform/db.ts'
import { type NodeFetch, nodeFetch } from '#platform/node_fetch.ts'
import { type Chain, chainsOf } from '#rails/chain/chain.ts'
import { custodyOn } from '#rails/chain/custody.ts'
import {
  type ChainBooks,
  chainBooks,
  networkBooks,
  unsweptAddresses,
} from './reconciliation_store.ts'

export type Reconciliation = {
  checked_at: string
  /** The proofs of the ledger that do not hold; there are none. */
  violations: { proof: string; found: Record<string, unknown> }[]
  chains: ChainDifference[]
  network: NetworkDifference[]
}

export type ChainDifference = {
  chain: string
  asset: string
  /** What the books say we keep: received and not sent. */
  ledger_usd: number
  /** Signed and perhaps out, and not final: the coins may have left before the books say so. */
  in_flight_usd: number
  /** What the chain says that we hold; null where it could not be asked. */
  on_chain_usd: number | null
  /** On the chain less in the books. Above zero: coins that the books do not know. */
  difference_usd: number | null
  fault: string | null
}

export type NetworkDifference = {
  network: string
  ledger_usd: number
  transactions_usd: number
  difference_usd: number
}

const NODE_TIMEOUT_MS = 10_000

/** The books against what is outside: coins in custody, and what the card networks have taken. */
export async function reconcile(
  { db, settings }: { db: Database; settings: Settings },
  now: Date,
): Promise<Reconciliation> {
  const [{ violations }, books, network] = await Promise.all([
    auditBooks(db, [...ledger_proofs, ...chain_proofs]),
    chainBooks(db),
    networkBooks(db),
  ])
  const fetch = nodeFetch(NODE_TIMEOUT_MS)
  const chains: ChainDifference[] = []
  for (const chain of chainsOf(settings.chains).values()) {
    const known = books.find((row) => row.chain === chain.name)
    for (const { asset, contract } of chain.assets) {
      chains.push(await compare(db, chain, { asset, contract, fetch, known }))
    }
  }
  return {
    checked_at: now.toISOString(),
    violations,
    chains,
    network: network.map(({ network: name, ledger_micros, transactions_micros }) => ({
      network: name,
      ledger_usd: usdFromMicros(ledger_micros),
      transactions_usd: usdFromMicros(transactions_micros),
      difference_usd: usdFromMicros(ledger_micros - transactions_micros),
    })),
  }
}

type Compared = {
  asset: string
  contract: string
  fetch: NodeFetch
  known: ChainBooks | undefined
}

async function compare(
  db: Database,
  chain: Chain,
  { asset, contract, fetch, known }: Compared,
): Promise<ChainDifference> {
  const ledger = known?.custody_micros ?? 0n
  const addresses = [chain.hot_wallet, ...(await unsweptAddresses(db, chain.name))]
  const balanceOf = custodyOn(chain, fetch)
  const total = async (): Promise<Micros> => {
    let sum = 0n
    for (const address of addresses) sum += await balanceOf(contract, address)
    return sum
  }
  const held = await total().catch((cause: unknown) =>
    cause instanceof Error ? cause : new Error(String(cause)),
  )
  const isKnown = typeof held === 'bigint'
  return {
    chain: chain.name,
    asset,
    ledger_usd: usdFromMicros(ledger),
    in_flight_usd: usdFromMicros(known?.in_flight_micros ?? 0n),
    on_chain_usd: isKnown ? usdFromMicros(held) : null,
    difference_usd: isKnown ? usdFromMicros(held - ledger) : null,
    fault: isKnown ? null : held.message,
  }
}
