import type { OAuthAccess, Operation, OperationShape, OperatorAccess } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Scope } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import { hasRole, type Operator } from '#domain/operators/operator.ts'
import type { Invocation } from '#operations/invocation.ts'

type AccessCheck = Pick<Invocation, 'operation' | 'caller' | 'operator'>

/** Enforces the contract's access rules; anything they do not list is denied. */
export function requireAccess({ operation, caller, operator }: AccessCheck): void {
  const { name, access } = operation
  if (access === 'anyone') return
  if ('operator' in access) {
    requireRole(name, access, operator)
    return
  }
  if (caller?.kind === 'session' && access.session) return
  if (caller?.kind === 'api_key' && access.api_key !== false) return
  if (caller?.kind === 'oauth_client' && access.oauth !== null) {
    requireScopes(access.oauth, caller.scopes)
    return
  }
  throw credentialNotAllowed(`${name} is not available to this type of credential.`)
}

function requireRole(name: string, access: OperatorAccess, operator: Operator | null): void {
  if (operator !== null && hasRole(operator, access.operator)) return
  const role = operator?.role ?? 'none'
  throw new Problem(
    'insufficient_scope',
    `${name} requires the ${access.operator} role. This token has ${role}.`,
  )
}

/** True if the caller may call the operation, with this input: some fields require more scopes. */
export function mayCall(
  operation: Operation,
  caller: Caller | null,
  input: Readonly<Record<string, unknown>> = {},
): boolean {
  try {
    requireAccess({ operation, caller, operator: null })
    requireFieldAccess({ operation, caller, input })
    return true
  } catch (cause) {
    if (cause instanceof Problem) return false
    throw cause
  }
}

/** The scopes a token needs for this call, including those of its fields. */
export function scopesFor(
  { access }: OperationShape,
  input: Readonly<Record<string, unknown>>,
): readonly Scope[] {
  if (access === 'anyone' || access.oauth === null) return []
  if ('any' in access.oauth) return access.oauth.any.slice(0, 1)
  return [...access.oauth.all, ...fieldScopes(access.oauth, input)]
}

function fieldScopes(
  { with_field = {}, with_item = {} }: AllOf,
  input: Readonly<Record<string, unknown>>,
): Scope[] {
  const fields = Object.entries(with_field).filter(([name]) => isSent(input[name]))
  const items = Object.entries(with_item).flatMap(([name, scopes]) => {
    const list: unknown = input[name]
    return Object.entries(scopes).filter(([item]) => Array.isArray(list) && list.includes(item))
  })
  return [...fields, ...items].map(([, scope]) => scope)
}

type AllOf = Extract<OAuthAccess, { all: readonly Scope[] }>

const isSent = (value: unknown) => value !== undefined && value !== null && value !== 0

function requireScopes(access: NonNullable<OAuthAccess>, held: ReadonlySet<Scope>): void {
  if ('any' in access) {
    if (access.any.some((scope) => held.has(scope))) return
    throw insufficientScope(access.any.join(' or '))
  }
  const missing = access.all.filter((scope) => !held.has(scope))
  if (missing.length > 0) throw insufficientScope(missing.join(' and '))
}

type FieldAccessCheck = Pick<Invocation, 'operation' | 'caller' | 'input'>

/** Some fields require more access than the operation itself. */
export function requireFieldAccess({
  operation: { access },
  caller,
  input,
}: FieldAccessCheck): void {
  if (access === 'anyone' || 'operator' in access || caller === null) return
  if (caller.kind === 'api_key' && typeof access.api_key === 'object') {
    const { only_fields } = access.api_key
    const other = Object.keys(input).find((field) => !only_fields.includes(field))
    if (other !== undefined) {
      throw credentialNotAllowed(`With an API key you can only send ${only_fields.join(', ')}.`)
    }
  }
  if (caller.kind !== 'oauth_client' || access.oauth === null || !('all' in access.oauth)) return
  const missing = fieldScopes(access.oauth, input).find((scope) => !caller.scopes.has(scope))
  if (missing !== undefined) throw insufficientScope(missing)
}

function insufficientScope(needed: string): Problem {
  return new Problem('insufficient_scope', `This requires the scope ${needed}.`)
}

function credentialNotAllowed(sentence: string): Problem {
  return new Problem('credential_not_allowed', sentence)
}
