import type { AuditRow } from '#domain/audit/audit.ts'
import { makePageReader } from '#platform/postgres/page.ts'

export const readAuditPage = makePageReader<AuditRow>({
  prefix: 'aud',
  select: 'select * from audit_entries',
})
