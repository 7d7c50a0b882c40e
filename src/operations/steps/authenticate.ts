import type { OperationShape } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Call } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import type { Caller } from '#platform/context.ts'

/** Bearer → caller. An operation that anyone may call does not look at the bearer at all. */
export async function authenticate(
  programme: Programme,
  operation: OperationShape,
  { bearer, resource }: Pick<Call, 'bearer' | 'resource'>,
): Promise<Caller | null> {
  if (operation.access === 'anyone') return null
  if (bearer === null) {
    throw new Problem('missing_token', 'Send Authorization: Bearer with a session, key or token.')
  }
  return programme.credentials.callerOf(bearer, resource)
}
