import { recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Resource } from '#domain/context/context.ts'
import { ID_PREFIXES, isId } from '#kernel/id.ts'
import type { Call } from '#operations/call.ts'
import type { Invocation } from '#operations/invocation.ts'
import { problemOf } from '#operations/problem_response.ts'

/**
 * Writes refused calls of sensitive operations to the audit log before the response is sent. Not
 * rate-limited calls, which would turn a flood of requests into a flood of writes, and not our own
 * errors.
 */
export async function auditRefusal(invocation: Invocation, cause: unknown): Promise<void> {
  const { runtime, call, operation, caller, request } = invocation
  const action = operation.refusals_audited_as
  const problem = problemOf(cause)
  const isAudited = problem.status < 500 && problem.code !== 'rate_limited'
  if (action === undefined || caller === null || !isAudited) return
  const entry = { action, result: 'denied', resource: await resourceIn(call) } as const
  const context = auditContextOf({ ...runtime, caller, request, operation: operation.name })
  const db = runtime.databaseOf(caller)
  await db.transaction((tx) => recordAudit(tx, caller.account_id, [entry], context))
}

/** The requested object, if the unvalidated input has a valid ID. */
async function resourceIn(call: Call): Promise<Resource | null> {
  const { id } = await inputOf(call)
  if (typeof id !== 'string') return null
  const prefix = ID_PREFIXES.find((each) => isId(each, id))
  return prefix === undefined ? null : { type: prefix, id }
}

async function inputOf(call: Call): Promise<Record<string, unknown>> {
  try {
    return Object(await call.readInput()) as Record<string, unknown>
  } catch {
    return {}
  }
}
