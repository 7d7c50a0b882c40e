import type { Caller, Dependencies, RequestContext } from '#domain/context/context.ts'
import type { AuditContext } from './audit.ts'

type Source = Pick<Dependencies, 'clock' | 'newId'> & {
  caller: Caller | null
  /** Whoever acts where no caller does: one of those who run the programme. */
  operator?: { id: string; name: string }
  request: RequestContext
  operation: string
}

/** Who did it and how it came in. A call without a bearer is that of the session it opens. */
export function auditContextOf(source: Source): AuditContext {
  const { caller, operator, request, operation, clock, newId } = source
  const actor = operator ?? caller
  return {
    actor_type: operator === undefined ? (caller?.kind ?? 'session') : 'operator',
    actor_id: actor?.id ?? null,
    actor_name: actor?.name ?? null,
    operation,
    ip: request.ip,
    user_agent: request.user_agent,
    request_id: request.id,
    stamp: () => {
      const created_at = clock.now()
      return { id: newId('aud', created_at), created_at }
    },
  }
}
