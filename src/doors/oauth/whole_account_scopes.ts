import type { OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { type Scope, scope_names } from '#contract/scopes.ts'
import { isForWholeAccount } from '#operations/steps/require_card_access.ts'

const shapes: readonly OperationShape[] = Object.values(operations)

function isFor({ access }: OperationShape, scope: Scope): boolean {
  if (access === 'anyone' || !('oauth' in access) || access.oauth === null) return false
  const { oauth } = access
  return ('all' in oauth ? oauth.all : oauth.any).includes(scope)
}

/** Scopes of which a token restricted to certain cards can use nothing. */
export const whole_account_scopes: readonly Scope[] = scope_names.filter((scope) => {
  const here = shapes.filter((shape) => isFor(shape, scope))
  return here.every(({ name }) => isForWholeAccount(name as OperationName))
})
