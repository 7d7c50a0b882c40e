import type { Settings } from '#settings/settings.ts'

/** The two things a token can be made for; what is for one does not open the other. */
export type ResourceName = 'rest' | 'mcp'

const PATHS: Readonly<Record<ResourceName, string>> = { rest: '/v1', mcp: '/mcp' }

const ADDRESS_LENGTH_MAX = 2_000

type Home = Pick<Settings, 'public_url'>

export function resourceUrl({ public_url }: Home, resource: ResourceName): string {
  return public_url + PATHS[resource]
}

/** Where a client reads how to get a token for it (RFC 9728). */
export function resourceMetadataUrl({ public_url }: Home, resource: ResourceName): string {
  return `${public_url}/.well-known/oauth-protected-resource${PATHS[resource]}`
}

/**
 * Which of the two an address means. A slash at the end changes nothing, and the bare origin means
 * the agent tools: some clients drop the path. Null for what is not ours.
 */
export function resourceNamed(home: Home, address: string): ResourceName | null {
  // The pattern below takes the square of the slashes in the middle of an address.
  if (address.length > ADDRESS_LENGTH_MAX) return null
  const bare = address.replace(/\/+$/, '')
  if (bare === resourceUrl(home, 'rest')) return 'rest'
  return bare === resourceUrl(home, 'mcp') || bare === home.public_url ? 'mcp' : null
}
