import type { Caller, RequestFacts, Seams } from '#platform/context.ts'
import type { AuditFacts } from './audit.ts'

type Source = Pick<Seams, 'clock' | 'newId'> & {
  caller: Caller | null
  request: RequestFacts
  operation: string
}

/** Who did it and how it came in. A call without a bearer is that of the session it opens. */
export function auditFactsOf({ caller, request, operation, clock, newId }: Source): AuditFacts {
  return {
    actor_type: caller?.kind ?? 'session',
    actor_id: caller?.id ?? null,
    actor_name: caller?.name ?? null,
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
