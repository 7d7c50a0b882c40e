import type { AuditRow } from '#domain/audit/audit.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'

export function pageOfAuditEntries(
  tx: Tx,
  input: PageInput,
  where: readonly Condition[],
): Promise<PageOf<AuditRow>> {
  return readPage(tx, {
    operation: 'get_audit_log',
    prefix: 'aud',
    select: 'select * from audit_entries',
    where,
    input,
  })
}
