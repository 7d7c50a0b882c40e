import type { Caller, Dependencies, RequestContext } from '#domain/context/context.ts'
import { makeStamp } from '#domain/context/stamp.ts'
import type { AuditContext } from './audit.ts'

type StampDependencies = { clock: Dependencies['clock']; newId: Dependencies['newId'] }

type AuditSource = StampDependencies & {
  caller: Caller | null
  /** The actor of a call that has no caller. */
  operator?: { id: string; name: string } | null
  request: RequestContext
  operation: string | null
}

/** Names the actor and the origin of a call. A call without a bearer counts as a session. */
export function auditContextOf(source: AuditSource): AuditContext {
  const { caller, operator = null, request, operation } = source
  const actor = operator ?? caller
  return {
    actor_type: operator === null ? (caller?.kind ?? 'session') : 'operator',
    actor_id: actor?.id ?? null,
    actor_name: actor?.name ?? null,
    operation,
    ip: request.ip,
    user_agent: request.user_agent,
    request_id: request.id,
    stamp: makeStamp(source, 'aud'),
  }
}

/** For entries that the service makes itself, without a request. */
export function systemAuditContext(dependencies: StampDependencies): AuditContext {
  return {
    actor_type: 'system',
    actor_id: null,
    actor_name: null,
    operation: null,
    ip: null,
    user_agent: null,
    request_id: null,
    stamp: makeStamp(dependencies, 'aud'),
  }
}
