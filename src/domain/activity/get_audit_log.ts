import type { AuditEntry } from '#contract/activity.ts'
import type { AuditRow } from '#domain/audit/audit.ts'
import type { Handler } from '#domain/context/context.ts'
import { anyOf, mapPage } from '#platform/postgres/page.ts'
import { readAuditPage } from './audit_store.ts'

export const getAuditLog: Handler<'get_audit_log'> = async ({ tx, caller }, input) => {
  const page = await readAuditPage(tx, {
    operation: 'get_audit_log',
    where: [
      ['account_id = ?', caller.account_id],
      ...anyOf('action', input.action),
      ...anyOf('actor_type', input.actor_type),
      ...anyOf('actor_id', input.actor_id),
      ...anyOf('result', input.result),
      ...anyOf('operation', input.operation),
    ],
    input,
  })
  return mapPage(page, auditEntryView)
}

function auditEntryView(entry: AuditRow): AuditEntry {
  const { resource_type, resource_id } = entry
  return {
    id: entry.id,
    action: entry.action,
    actor: { type: entry.actor_type, id: entry.actor_id, name: entry.actor_name },
    operation: entry.operation,
    result: entry.result,
    resource:
      resource_type === null || resource_id === null
        ? null
        : { type: resource_type, id: resource_id },
    ip: entry.ip,
    user_agent: entry.user_agent,
    request_id: entry.request_id,
    created_at: entry.created_at.toISOString(),
    prev_hash: entry.prev_hash,
    hash: entry.hash,
  }
}
