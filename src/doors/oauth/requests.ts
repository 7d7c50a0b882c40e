import { Problem } from '#contract/problem.ts'
import { default_scopes, type Scope, scope_names } from '#contract/scopes.ts'
import { resourceNamed, resourceUrl } from '#domain/credentials/resource.ts'
import type { Settings } from '#settings/settings.ts'

/** OpenID Connect parameters that many clients send; the library would refuse them. */
const FOREIGN = ['nonce', 'max_age', 'claims', 'acr_values', 'id_token_hint', 'claims_locales']

/** Normalizes the query of an authorization request for the library. */
export function authorizeQuery(settings: Settings, query: URLSearchParams): URLSearchParams {
  const judged = withResources(settings, query)
  // At most 16 KB, because the query is part of the request head.
  for (const name of FOREIGN) judged.delete(name)
  if (judged.getAll('scope').length <= 1) {
    const scopes = (judged.get('scope') ?? '').split(' ').filter(isKnown)
    const asked = scopes.some((scope) => scope !== 'offline_access')
      ? scopes
      : [...default_scopes, ...scopes]
    judged.set('scope', asked.join(' '))
  }
  return judged
}

/** Drops `openid`, `profile` and similar scopes, which have no meaning here. */
function isKnown(scope: string): boolean {
  return scope === 'offline_access' || scope_names.includes(scope as Scope)
}

/** Requests have about a dozen parameters; thousands take the library 200 ms. */
const PARAMETERS_MAX = 100
/** More than any client needs; each is looked up, stored and shown. */
const RESOURCES_MAX = 5

/** Normalizes resource URLs, so both endpoints compare the same spelling. */
export function withResources(settings: Settings, given: URLSearchParams): URLSearchParams {
  requireHoldable(given)
  const judged = new URLSearchParams()
  const resources = new Set<string>()
  let count = 0
  // A single pass, because URLSearchParams.delete scans all parameters every time.
  for (const [name, value] of given) {
    if (name === 'resource') resources.add(spelled(settings, value))
    else judged.append(name, value)
    count += 1
    if (count > PARAMETERS_MAX) {
      throw new Problem(
        'invalid_request',
        `A request can have at most ${PARAMETERS_MAX} parameters.`,
      )
    }
    if (resources.size > RESOURCES_MAX) {
      throw new Problem('invalid_request', `A request can name at most ${RESOURCES_MAX} resources.`)
    }
  }
  for (const address of resources) judged.append('resource', address)
  return judged
}

function spelled(settings: Settings, address: string): string {
  const resource = resourceNamed(settings, address)
  return resource === null ? address : resourceUrl(settings, resource)
}

/** The library stores the parameters, and PostgreSQL text cannot contain a null character. */
function requireHoldable(given: URLSearchParams): void {
  if (!given.toString().includes('%00')) return
  throw new Problem('invalid_request', 'Parameters must not contain a null character.')
}
