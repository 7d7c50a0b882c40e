import { createClient } from '#client/client.ts'
import { findProfile, type Profile } from './profiles.ts'
import { freshened } from './tokens.ts'

export type ConnectionOptions = { server?: string; key?: string; profile?: string }
export type Connection = { url: string; bearer: string | undefined }

const HERE = 'http://127.0.0.1:8080'

/**
 * What was typed wins over the environment, and that over the profile. The bearer of a profile goes
 * to the address it was made for and to no other.
 */
export async function connectionOf(options: ConnectionOptions): Promise<Connection> {
  const key = options.key ?? process.env['FLORIN_KEY'] ?? undefined
  const asked = options.server ?? process.env['FLORIN_URL'] ?? undefined
  const isAnonymous = key !== undefined && options.profile === undefined && asked !== undefined
  const found = isAnonymous ? undefined : await findProfile(options.profile)
  const url = trimmed(asked ?? found?.profile.url ?? HERE)
  if (key !== undefined) return { url, bearer: key }
  if (found === undefined || trimmed(found.profile.url) !== url) return { url, bearer: undefined }
  const profile: Profile = await freshened(found.name, found.profile)
  return { url, bearer: profile.bearer }
}

const trimmed = (url: string): string => url.replace(/\/+$/, '').replace(/\/v1$/, '')

export const clientFor = ({ url, bearer }: Connection) => createClient({ url, bearer })
