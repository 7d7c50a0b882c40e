import { Problem } from '#contract/problem.ts'
import { default_scopes, type Scope, scope_names } from '#contract/scopes.ts'
import { audienceOf, resourceUrl } from '#domain/credentials/resource.ts'
import type { Settings } from '#settings/settings.ts'

/** OpenID Connect parameters that many clients send; the library would refuse them. */
const OPENID_PARAMETERS = [
  'nonce',
  'max_age',
  'claims',
  'acr_values',
  'id_token_hint',
  'claims_locales',
]

/** Normalizes the query of an authorization request for the library. */
export function normalizeAuthorizeQuery(
  settings: Settings,
  query: URLSearchParams,
): URLSearchParams {
  const normalized = normalizeResources(settings, query)
  // At most 16 KB, because the query is part of the request head.
  for (const name of OPENID_PARAMETERS) normalized.delete(name)
  dropOpenidPrompts(normalized)
  if (normalized.getAll('scope').length <= 1) {
    const scopes = (normalized.get('scope') ?? '').split(' ').filter(isKnown)
    const requested = scopes.some((scope) => scope !== 'offline_access')
      ? scopes
      : [...default_scopes, ...scopes]
    normalized.set('scope', requested.join(' '))
  }
  return normalized
}

const OPENID_PROMPTS = ['select_account', 'create']

/** The library refuses them. The consent page lets its owner select the account anyway. */
function dropOpenidPrompts(query: URLSearchParams): void {
  const [prompt, ...others] = query.getAll('prompt')
  if (prompt === undefined || others.length > 0) return
  const kept = prompt.split(' ').filter((each) => each !== '' && !OPENID_PROMPTS.includes(each))
  if (kept.length > 0) query.set('prompt', kept.join(' '))
  else query.delete('prompt')
}

/** Drops `openid`, `profile` and similar scopes, which have no meaning here. */
function isKnown(scope: string): boolean {
  return scope === 'offline_access' || scope_names.includes(scope as Scope)
}

/** Requests have about a dozen parameters; the library needs 200 ms for thousands. */
const PARAMETERS_MAX = 100
/** More than any client needs; each is looked up, stored and shown. */
const RESOURCES_MAX = 5

/** Normalizes resource URLs, so both endpoints compare the same spelling. */
export function normalizeResources(
  settings: Settings,
  parameters: URLSearchParams,
): URLSearchParams {
  requireNoNullCharacter(parameters)
  const normalized = new URLSearchParams()
  const resources = new Set<string>()
  let count = 0
  // A single loop, because URLSearchParams.delete scans all parameters every time.
  for (const [name, value] of parameters) {
    if (name === 'resource') resources.add(canonicalResource(settings, value))
    else normalized.append(name, value)
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
  for (const url of resources) normalized.append('resource', url)
  return normalized
}

/** The origin alone means MCP, because some clients drop the path. */
function canonicalResource(settings: Settings, url: string): string {
  const audience = audienceOf(settings, url)
  if (audience === null) return url
  return resourceUrl(settings, audience === 'both' ? 'mcp' : audience)
}

/** The library stores the parameters, and PostgreSQL text cannot contain a null character. */
function requireNoNullCharacter(parameters: URLSearchParams): void {
  if (!parameters.toString().includes('%00')) return
  throw new Problem('invalid_request', 'Parameters must not contain a null character.')
}
