/** A token is issued for one resource and refused by the other. */
export type ResourceName = 'rest' | 'mcp'

const PATHS: Readonly<Record<ResourceName, string>> = { rest: '/v1', mcp: '/mcp' }

const URL_LENGTH_MAX = 2_000

type PublicUrl = { public_url: string }

export function resourceUrl({ public_url }: PublicUrl, resource: ResourceName): string {
  return public_url + PATHS[resource]
}

/** Protected resource metadata (RFC 9728), where clients learn how to get a token. */
export function resourceMetadataUrl({ public_url }: PublicUrl, resource: ResourceName): string {
  return `${public_url}/.well-known/oauth-protected-resource${PATHS[resource]}`
}

/**
 * Finds the resource of a URL; null if it is not ours. Trailing slashes are ignored. The origin
 * alone means MCP, because some clients drop the path.
 */
export function resourceNamed(settings: PublicUrl, url: string): ResourceName | null {
  // The regular expression below takes quadratic time in the number of slashes.
  if (url.length > URL_LENGTH_MAX) return null
  const trimmed = url.replace(/\/+$/, '')
  if (trimmed === resourceUrl(settings, 'rest')) return 'rest'
  return trimmed === resourceUrl(settings, 'mcp') || trimmed === settings.public_url ? 'mcp' : null
}
