export type ResourceName = 'rest' | 'mcp'

/** A token is for the resource that its authorization named; without one, for both. */
export type Audience = ResourceName | 'both'

const PATHS: Readonly<Record<Audience, string>> = { rest: '/v1', mcp: '/mcp', both: '' }
const audiences = Object.keys(PATHS) as Audience[]

const URL_LENGTH_MAX = 2_000

type PublicUrl = { public_url: string }

export function resourceUrl({ public_url }: PublicUrl, audience: Audience): string {
  return public_url + PATHS[audience]
}

/** Protected resource metadata (RFC 9728), where clients learn how to get a token. */
export function resourceMetadataUrl({ public_url }: PublicUrl, resource: ResourceName): string {
  return `${public_url}/.well-known/oauth-protected-resource${PATHS[resource]}`
}

/** Finds the audience of a URL; null if it is not ours. Trailing slashes are ignored. */
export function audienceOf(settings: PublicUrl, url: string): Audience | null {
  // The regular expression below takes quadratic time in the number of slashes.
  if (url.length > URL_LENGTH_MAX) return null
  const trimmed = url.replace(/\/+$/, '')
  return audiences.find((audience) => trimmed === resourceUrl(settings, audience)) ?? null
}
