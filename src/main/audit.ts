import { hold_proofs } from '#domain/authorizations/hold_proofs.ts'

import { event_proofs } from '#domain/events/event_proofs.ts'

import { auditBooks, type BooksReport, ledger_proofs } from '#domain/ledger/audit_books.ts'
import { payment_proofs } from '#domain/paid_calls/payment_proofs.ts'
import { delivery_proofs } from '#domain/webhooks/delivery_proofs.ts'
import { chain_proofs } from '#domain/withdrawals/chain_proofs.ts'
import { type ChainDifference, compareCustody } from '#domain/withdrawals/compare_custody.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Database } from '#platform/postgres/db.ts'
import { onOneNode } from '#platform/postgres/one_node.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'

export { type AuditHead, changedHeads, readAuditHeads } from '#domain/audit/audit_heads.ts'
export { type AuditReport, verifyAudit } from '#domain/audit/verify_audit.ts'
export type { BooksReport, ChainDifference }

/** Every room's proofs, over one snapshot of the books. */
const proofs = [
  ...ledger_proofs,
  ...event_proofs,
  ...chain_proofs,
  ...hold_proofs,
  ...payment_proofs,
  ...delivery_proofs,
]

export function proveBooks(db: Database): Promise<BooksReport> {
  return auditBooks(db, proofs)
}

const NODE_TIMEOUT_MS = 10_000

/** Compares the books with the coins on chain. A chain that doesn't respond is not a violation. */
export async function proveCustody(db: Database, settings: Settings): Promise<ChainDifference[]> {
  return compareCustody({ db, settings }, nodeFetch(NODE_TIMEOUT_MS))
}

const HOUR_MS = 60 * 60_000

/**
 * The same proof in production, hourly and on one node: with millions of movements it takes the
 * database minutes. A violation fails the run, which is counted and logged.
 */
export function proveBooksTask(dependencies: AuditDependencies): Task {
  const schedule = { task: 'prove_books', every_ms: HOUR_MS }
  return {
    name: schedule.task,
    every_ms: schedule.every_ms,
    run: onOneNode(dependencies, schedule, async () => {
      const { figures, violations } = await proveBooks(dependencies.db)
      const custody = await proveCustody(dependencies.db, dependencies.settings)
      const wrong = [...violations, ...custody.filter(({ is_short }) => is_short)]
      if (wrong.length === 0)
        return dependencies.log.info('the books are sound', { ...figures, ...logFields(custody) })
      throw new Error(`the books are not sound: ${JSON.stringify(wrong.slice(0, 10))}`)
    }),
  }
}

type AuditDependencies = {
  db: Database
  log: Log
  settings: Settings
  clock: Clock
  random: Random
}

/** The differences by chain and asset. */
const logFields = (custody: readonly ChainDifference[]): Record<string, number | string> =>
  Object.fromEntries(
    custody.map(({ chain, asset, difference_usd, fault }) => [
      `${chain}_${asset}_difference_usd`,
      difference_usd ?? `unknown: ${fault}`,
    ]),
  )
