import type { Caller, RequestFacts, Seams } from '#domain/context/context.ts'
import type { AuditFacts } from './audit.ts'

type Source = Pick<Seams, 'clock' | 'newId'> & {
  caller: Caller | null
  /** Whoever acts where no caller does: one of those who run the programme. */
  operator?: { id: string; name: string }
  request: RequestFacts
  operation: string
}

/** Who did it and how it came in. A call without a bearer is that of the session it opens. */
export function auditFactsOf(source: Source): AuditFacts {
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
