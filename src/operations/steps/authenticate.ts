import { missingToken } from '#contract/common_problems.ts'
import type { OperationShape } from '#contract/operation.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Call } from '#operations/call.ts'
import type { Runtime } from '#operations/runtime.ts'

/**
 * Resolves the bearer to a caller, synchronously if it is cached. Operations open to anyone ignore
 * the bearer.
 */
export function authenticate(
  runtime: Runtime,
  operation: OperationShape,
  call: Pick<Call, 'bearer' | 'resource'>,
): Caller | null | Promise<Caller> {
  return operation.access === 'anyone' ? null : callerOf(runtime, call)
}

export function callerOf(
  { credentials }: Runtime,
  { bearer, resource }: Pick<Call, 'bearer' | 'resource'>,
): Caller | Promise<Caller> {
  if (bearer === null) {
    throw missingToken()
  }
  return credentials.recall(bearer, resource) ?? credentials.callerOf(bearer, resource)
}
