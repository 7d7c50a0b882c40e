import { default_scopes, type Scope } from '#contract/scopes.ts'
import { type ResourceName, resourceMetadataUrl } from '#domain/credentials/resource.ts'
import type { Answer } from '#operations/call.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * The WWW-Authenticate of a 401: where to learn how to get a token, and what to ask for first. That
 * a bearer was sent and refused is said too, so that a client does not send it again.
 */
export function challenge(
  settings: Settings,
  resource: ResourceName,
  { body }: Pick<Answer, 'body'>,
): string {
  const wasSent = !body.startsWith('{"error":"missing_token"')
  const error = wasSent ? ', error="invalid_token"' : ''
  return `Bearer ${metadataOf(settings, resource)}, scope="${default_scopes.join(' ')}"${error}`
}

/**
 * The WWW-Authenticate of a 403: ask for these, and what you hold stays among them. Without any it
 * only says what is wrong; the answer's sentence names the scope.
 */
export function stepUp(
  settings: Settings,
  resource: ResourceName,
  scopes: readonly Scope[] = [],
): string {
  const asked = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
  return `Bearer error="insufficient_scope"${asked}, ${metadataOf(settings, resource)}`
}

export function isAboutScope({ status, body }: Pick<Answer, 'status' | 'body'>): boolean {
  return status === 403 && body.startsWith('{"error":"insufficient_scope"')
}

function metadataOf(settings: Settings, resource: ResourceName): string {
  return `resource_metadata="${resourceMetadataUrl(settings, resource)}"`
}
