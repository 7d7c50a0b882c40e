import { pathNames } from '#contract/operation.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { Invocation } from '#operations/invocation.ts'
import type { IdempotentRequest } from './stored_responses.ts'

/**
 * A key belongs to its account, operation and path. The fingerprint is keyed because it covers the
 * whole input, passwords included: a copy of the database must not help to guess them.
 */
export function fingerprintRequest(invocation: Invocation, key: string): IdempotentRequest {
  const { runtime, operation, caller, request, input } = invocation
  const ids = pathNames(operation.path).map((name) => String(input[name]))
  // A repeat with another file is another request.
  const content = request.upload ? { ...input, sha256: request.upload.sha256 } : input
  const canonical = canonicalJson([operation.method, operation.path, content])
  return {
    scope: [ownerOf(invocation), operation.name, ...ids].join('|'),
    key,
    fingerprint: runtime.keys.fingerprint('idempotency', canonical),
    account_id: caller?.account_id ?? null,
  }
}

function ownerOf({ runtime, caller, operator, input }: Invocation): string {
  if (operator !== null) return `operator|${operator.id}`
  if (caller !== null) return caller.account_id
  // The token of reset_password stands for its account. It is a secret, so its hash is stored.
  const { token } = input
  if (typeof token === 'string') return `token:${runtime.keys.fingerprint('idempotency', token)}`
  return `email:${String(input['email']).toLowerCase()}`
}
