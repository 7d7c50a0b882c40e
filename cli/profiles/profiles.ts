import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '#cli/exit_codes.ts'

/** Where a programme is and how to get in. */
export type Profile = {
  url: string
  kind: 'key' | 'session' | 'token'
  bearer: string
  /** Of tokens: how to get the next one, and until when this one works. */
  client_id?: string
  refresh_token?: string
  expires_at?: string
}

export type Profiles = { current: string | null; profiles: Record<string, Profile> }

export function profilesPath(): string {
  const base = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
  return join(base, 'florin', 'profiles.json')
}

export async function readProfiles(): Promise<Profiles> {
  const text = await readFile(profilesPath(), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '{"current": null, "profiles": {}}'
    throw cause
  })
  try {
    return JSON.parse(text) as Profiles
  } catch {
    throw new UsageError(`${profilesPath()} is not JSON. Mend it, or delete it and log in again.`)
  }
}

/** In one step, and for our user alone: bearers are in it. */
export async function writeProfiles(profiles: Profiles): Promise<void> {
  const path = profilesPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const aside = `${path}.${process.pid}`
  await writeFile(aside, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  await chmod(aside, 0o600)
  await rename(aside, path)
}

/** The named one, or the current one; undefined where nobody has logged in. */
export async function findProfile(
  name: string | undefined,
): Promise<{ name: string; profile: Profile } | undefined> {
  const { current, profiles } = await readProfiles()
  const wanted = name ?? current
  const profile = wanted === null ? undefined : profiles[wanted]
  if (wanted !== null && profile !== undefined) return { name: wanted, profile }
  if (name === undefined) return undefined
  throw new UsageError(`There is no profile ${name}. \`florin profiles\` lists them.`)
}

export async function keepProfile(name: string, profile: Profile): Promise<void> {
  const { profiles } = await readProfiles()
  await writeProfiles({ current: name, profiles: { ...profiles, [name]: profile } })
}

export async function dropProfile(name: string): Promise<void> {
  const { current, profiles } = await readProfiles()
  const { [name]: _dropped, ...others } = profiles
  const next = current === name ? (Object.keys(others)[0] ?? null) : current
  await writeProfiles({ current: next, profiles: others })
}
