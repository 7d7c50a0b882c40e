import { missingToken } from '#contract/common_problems.ts'
import type { OperationShape } from '#contract/operation.ts'
import type { Call } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import type { Caller } from '#platform/context.ts'

/**
 * Bearer → caller, at once where it is remembered. An operation that anyone may call does not look
 * at the bearer at all.
 */
export function authenticate(
  programme: Programme,
  operation: OperationShape,
  call: Pick<Call, 'bearer' | 'resource'>,
): Caller | null | Promise<Caller> {
  return operation.access === 'anyone' ? null : callerOf(programme, call)
}

export function callerOf(
  { credentials }: Programme,
  { bearer, resource }: Pick<Call, 'bearer' | 'resource'>,
): Caller | Promise<Caller> {
  if (bearer === null) {
    throw missingToken()
  }
  return credentials.recall(bearer, resource) ?? credentials.callerOf(bearer, resource)
}
