import { UsageError } from '#cli/exit_codes.ts'
import { createClient } from '#client/client.ts'
import { findProfile, type Profile } from './profiles.ts'
import { refreshProfile } from './tokens.ts'

export type ConnectionOptions = { server?: string; key?: string; profile?: string }
export type Connection = { url: string; bearer: string | undefined }

const DEFAULT_URL = 'http://127.0.0.1:8080'

/**
 * Flags override environment variables, which override the profile. A profile's bearer is sent only
 * to the URL it was saved for.
 */
export async function resolveConnection(options: ConnectionOptions): Promise<Connection> {
  const key = options.key ?? variable('FLORIN_KEY')
  const server = options.server ?? variable('FLORIN_URL')
  const isAnonymous = key !== undefined && options.profile === undefined && server !== undefined
  const found = isAnonymous ? undefined : await findProfile(options.profile)
  const url = normalizeUrl(server ?? found?.profile.url ?? DEFAULT_URL)
  if (key !== undefined) return { url, bearer: key }
  if (found === undefined || normalizeUrl(found.profile.url) !== url)
    return { url, bearer: undefined }
  const profile: Profile = await refreshProfile(found.name, found.profile)
  return { url, bearer: profile.bearer }
}

/** An empty variable counts as unset, as in the settings of the service. */
function variable(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

/** Without a scheme, a request would fail as if the service did not run. */
function normalizeUrl(url: string): string {
  if (!/^https?:\/\/./i.test(url)) {
    throw new UsageError(`The address "${url}" must start with http:// or https://.`)
  }
  return url.replace(/\/+$/, '').replace(/\/v1$/, '')
}

export const clientFor = ({ url, bearer }: Connection) => createClient({ url, bearer })
