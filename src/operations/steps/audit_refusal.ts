import type { OperationShape } from '#contract/operation.ts'
import { recordAudit } from '#domain/access/audit.ts'
import { auditFactsOf } from '#domain/access/audit_facts.ts'
import { ID_PREFIXES, isId } from '#kernel/id.ts'
import type { Call } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import { problemOf } from '#operations/refusal.ts'
import type { Caller, Resource } from '#platform/context.ts'

export type Refused = { operation: OperationShape; caller: Caller | null; cause: unknown }

/**
 * Some operations must not even be tried unseen: whoever refuses, and for whatever reason, the
 * account's audit log tells of it before the caller hears of it. Not what is over the rate, which
 * would make a flood of refusals a flood of writes; and what failed on our side was no refusal.
 */
export async function auditRefusal(
  programme: Programme,
  call: Call,
  { operation, caller, cause }: Refused,
): Promise<void> {
  const action = operation.refusals_audited_as
  const problem = problemOf(cause)
  const isTold = problem.status < 500 && problem.code !== 'rate_limited'
  if (action !== undefined && caller !== null && isTold) {
    const entry = { action, result: 'denied', resource: resourceIn(call) } as const
    const request = { ...call.request, idempotency_key: null }
    const facts = auditFactsOf({ ...programme, caller, request, operation: operation.name })
    const db = programme.databaseOf(caller)
    await db.transaction((tx) => recordAudit(tx, caller.account_id, [entry], facts))
  }
}

/** What was asked for, as far as it has the form of an id: the input is not believed yet. */
function resourceIn(call: Call): Resource | null {
  const { id } = inputOf(call)
  if (typeof id !== 'string') return null
  const prefix = ID_PREFIXES.find((each) => isId(each, id))
  return prefix === undefined ? null : { type: prefix, id }
}

function inputOf(call: Call): Record<string, unknown> {
  try {
    return Object(call.readInput()) as Record<string, unknown>
  } catch {
    return {}
  }
}
