import { auditBooks, ledger_proofs } from '#domain/ledger/audit_books.ts'
import { payment_proofs } from '#domain/paid_calls/payment_proofs.ts'
import {
  type PaymentsDifference,
  reconcilePayments,
} from '#domain/paid_calls/reconcile_payments.ts'
import { chain_proofs } from '#domain/withdrawals/chain_proofs.ts'
import { type ChainDifference, compareCustody } from '#domain/withdrawals/compare_custody.ts'
import { usdFromMicros } from '#kernel/money.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { loadNetworkTotals } from './reconciliation_store.ts'

export type Reconciliation = {
  checked_at: string
  /** Failed proofs of the ledger. It should be empty. */
  violations: { proof: string; found: Record<string, unknown> }[]
  chains: ChainDifference[]
  network: NetworkDifference[]
  /** Payments for API calls; null if no call ever had a price. */
  paid_calls: PaymentsDifference | null
}

export type NetworkDifference = {
  network: string
  ledger_usd: number
  transactions_usd: number
  difference_usd: number
}

const NODE_TIMEOUT_MS = 10_000

/** Compares the books with the coins in custody, the card networks and x402 payments. */
export async function reconcile(
  { db, settings }: { db: Database; settings: Settings },
  now: Date,
): Promise<Reconciliation> {
  const [{ violations }, network] = await Promise.all([
    auditBooks(db, [...ledger_proofs, ...chain_proofs, ...payment_proofs]),
    loadNetworkTotals(db),
  ])
  const fetch = nodeFetch(NODE_TIMEOUT_MS)
  return {
    checked_at: now.toISOString(),
    violations,
    chains: await compareCustody({ db, settings }, fetch),
    network: network.map(({ network: name, ledger_micros, transactions_micros }) => ({
      network: name,
      ledger_usd: usdFromMicros(ledger_micros),
      transactions_usd: usdFromMicros(transactions_micros),
      difference_usd: usdFromMicros(ledger_micros - transactions_micros),
    })),
    paid_calls: await reconcilePayments(db, settings.x402, fetch),
  }
}
