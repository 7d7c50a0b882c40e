import { default_scopes, type Scope } from '#contract/scopes.ts'
import { type ResourceName, resourceMetadataUrl } from '#domain/credentials/resource.ts'
import type { Response } from '#operations/call.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * The WWW-Authenticate header of a 401: where to get a token and which scopes to request first. If
 * a bearer was sent, error="invalid_token" keeps the client from sending it again.
 */
export function challenge(
  settings: Settings,
  resource: ResourceName,
  { problem_code }: Pick<Response, 'problem_code'>,
): string {
  const error = problem_code !== 'missing_token' ? ', error="invalid_token"' : ''
  return `Bearer ${metadataOf(settings, resource)}, scope="${default_scopes.join(' ')}"${error}`
}

/**
 * The WWW-Authenticate header of a 403: request these scopes, which include those already held.
 * Without any, it only names the error; the message names the missing scope.
 */
export function stepUp(
  settings: Settings,
  resource: ResourceName,
  scopes: readonly Scope[] = [],
): string {
  const scope = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
  return `Bearer error="insufficient_scope"${scope}, ${metadataOf(settings, resource)}`
}

function metadataOf(settings: Settings, resource: ResourceName): string {
  return `resource_metadata="${resourceMetadataUrl(settings, resource)}"`
}
