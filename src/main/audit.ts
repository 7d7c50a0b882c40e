import { hold_proofs } from '#domain/authorizations/hold_proofs.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { auditBooks, type BooksReport, ledger_proofs } from '#domain/ledger/audit_books.ts'
import { payment_proofs } from '#domain/paid_calls/payment_proofs.ts'
import { chain_proofs } from '#domain/withdrawals/chain_proofs.ts'
import { type ChainDifference, compareCustody } from '#domain/withdrawals/compare_custody.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Database } from '#platform/postgres/db.ts'
import { onOneNode } from '#platform/postgres/one_node.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'

export { type AuditHead, changedHeads, readAuditHeads } from '#domain/audit/audit_heads.ts'
export { type AuditReport, verifyAudit } from '#domain/audit/verify_audit.ts'
export type { BooksReport, ChainDifference }

/** Every room's proofs, over one snapshot of the books. */
const proofs = [...ledger_proofs, ...chain_proofs, ...hold_proofs, ...payment_proofs]

export function proveBooks(db: Database): Promise<BooksReport> {
  return auditBooks(db, proofs)
}

const NODE_TIMEOUT_MS = 10_000

/** The books and the coins behind them; a chain that cannot be asked is no fault of the books. */
export async function proveCustody(db: Database, settings: Settings): Promise<ChainDifference[]> {
  return compareCustody({ db, settings }, nodeFetch(NODE_TIMEOUT_MS))
}

const HOUR_MS = 60 * 60_000

/**
 * The same proof in production, on one node an hour: at millions of movements it costs minutes of
 * the database. A violation fails the run, which is counted and logged.
 */
export function proveBooksTask(parts: Parts): Task {
  const once = { task: 'prove_books', every_ms: HOUR_MS }
  return {
    name: once.task,
    every_ms: once.every_ms,
    run: onOneNode(parts, once, async () => {
      const { figures, violations } = await proveBooks(parts.db)
      const custody = await proveCustody(parts.db, parts.settings)
      const wrong = [...violations, ...custody.filter(({ is_short }) => is_short)]
      if (wrong.length === 0)
        return parts.log.info('the books are sound', { ...figures, ...differencesIn(custody) })
      throw new Error(`the books are not sound: ${JSON.stringify(wrong.slice(0, 10))}`)
    }),
  }
}

type Parts = Pick<Dependencies, 'db' | 'log' | 'settings' | 'clock' | 'random'>

/** By chain and asset, for the log. */
const differencesIn = (custody: readonly ChainDifference[]): Record<string, number | string> =>
  Object.fromEntries(
    custody.map(({ chain, asset, difference_usd, fault }) => [
      `${chain}_${asset}_difference_usd`,
      difference_usd ?? `not known: ${fault}`,
    ]),
  )
