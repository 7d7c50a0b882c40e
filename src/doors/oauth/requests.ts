import { Problem } from '#contract/problem.ts'
import { default_scopes, type Scope, scope_names } from '#contract/scopes.ts'
import { resourceNamed, resourceUrl } from '#domain/access/resource.ts'
import type { Settings } from '#platform/config.ts'

/** What only OpenID knows; clients add it out of habit, and the library would refuse it. */
const FOREIGN = ['nonce', 'max_age', 'claims', 'acr_values', 'id_token_hint', 'claims_locales']

/** The query of an authorization request, in the form that the library judges. */
export function authorizeQuery(settings: Settings, query: URLSearchParams): URLSearchParams {
  const judged = withResources(settings, query)
  // At most 16 KB: a query is part of the request's head.
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

/** `openid`, `profile` and the like are left out: there is nothing here that they could mean. */
function isKnown(scope: string): boolean {
  return scope === 'offline_access' || scope_names.includes(scope as Scope)
}

/** Requests have about a dozen; the library takes 200 ms over some thousands. */
const PARAMETERS_MAX = 100
/** More than any client has named; each is looked up, kept and shown. */
const RESOURCES_MAX = 5

/** One spelling for each resource, here and at the token endpoint, whatever the client writes. */
export function withResources(settings: Settings, given: URLSearchParams): URLSearchParams {
  requireHoldable(given)
  const judged = new URLSearchParams()
  const resources = new Set<string>()
  let count = 0
  // One pass: URLSearchParams.delete goes through all of them again for each it removes.
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

/** The library keeps what it is asked, and the database holds no null character. */
function requireHoldable(given: URLSearchParams): void {
  if (!given.toString().includes('%00')) return
  throw new Problem('invalid_request', 'Parameters must not contain a null character.')
}
