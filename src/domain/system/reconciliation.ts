import {
  type PaymentsDifference,
  reconcilePayments,
} from '#domain/paid_calls/reconcile_payments.ts'
import { type ChainDifference, compareCustody } from '#domain/withdrawals/compare_custody.ts'
import { usdFromMicros } from '#kernel/money.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { type FindingRow, findLastRun, listFindings } from './proof_store.ts'
import { loadNetworkTotals } from './reconciliation_store.ts'

export type Reconciliation = {
  checked_at: string
  proven_at: string | null
  /** Findings of the hourly proofs. It should be empty. */
  violations: FindingView[]
  chains: ChainDifference[]
  network: NetworkDifference[]
  /** Payments for API calls; null if no call ever had a price. */
  paid_calls: PaymentsDifference | null
}

type FindingView = {
  proof: string
  account_id: string | null
  object_id: string
  sentence: string
  first_seen_at: string
  last_seen_at: string
}

function findingView(row: FindingRow): FindingView {
  const { proof, account_id, object_id, sentence } = row
  return {
    proof,
    account_id: account_id === '' ? null : account_id,
    object_id,
    sentence,
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
  }
}

const FINDINGS_MAX = 200

type NetworkDifference = {
  network: string
  ledger_usd: number
  transactions_usd: number
  difference_usd: number
}

const NODE_TIMEOUT_MS = 10_000

/** Compares the books with the coins in custody, the card networks and x402 payments. */
export async function reconcile(
  { db, settings, custody_dbs }: { db: Tx; settings: Settings; custody_dbs: readonly Tx[] },
  now: Date,
): Promise<Reconciliation> {
  const [findings, last_run_at, network] = await Promise.all([
    listFindings(db, FINDINGS_MAX),
    findLastRun(db),
    loadNetworkTotals(db),
  ])
  const fetch = nodeFetch(NODE_TIMEOUT_MS)
  return {
    checked_at: now.toISOString(),
    proven_at: last_run_at?.toISOString() ?? null,
    violations: findings.map(findingView),
    chains: await compareCustody({ dbs: custody_dbs, settings }, fetch),
    network: network.map(({ network: name, ledger_micros, transactions_micros }) => ({
      network: name,
      ledger_usd: usdFromMicros(ledger_micros),
      transactions_usd: usdFromMicros(transactions_micros),
      difference_usd: usdFromMicros(ledger_micros - transactions_micros),
    })),
    paid_calls: await reconcilePayments(db, settings.x402, fetch),
  }
}
