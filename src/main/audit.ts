import { hold_proofs } from '#domain/authorizations/hold_proofs.ts'
import { auditBooks, type BooksReport, ledger_proofs } from '#domain/ledger/audit_books.ts'
import { chain_proofs } from '#domain/withdrawals/chain_proofs.ts'
import type { Database } from '#platform/db.ts'
import type { Log } from '#platform/log.ts'
import type { Task } from '#platform/tasks.ts'

export { type AuditReport, verifyAudit } from '#domain/access/verify_audit.ts'
export type { BooksReport }

/** Every room's proofs, over one snapshot of the books. */
const proofs = [...ledger_proofs, ...chain_proofs, ...hold_proofs]

export function proveBooks(db: Database): Promise<BooksReport> {
  return auditBooks(db, proofs)
}

const HOUR_MS = 60 * 60_000

/** The same proof in production: a violation fails the pass, which is counted and logged. */
export function proveBooksTask(db: Database, log: Log): Task {
  return {
    name: 'prove_books',
    every_ms: HOUR_MS,
    pass: async () => {
      const { figures, violations } = await proveBooks(db)
      if (violations.length === 0) return log.info('the books are sound', figures)
      throw new Error(`the books are not sound: ${JSON.stringify(violations.slice(0, 10))}`)
    },
  }
}
