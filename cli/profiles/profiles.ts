import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '#cli/exit_codes.ts'

/** The URL of a server and a credential for it. */
export type Profile = {
  url: string
  kind: 'key' | 'session' | 'token'
  bearer: string
  /** `client_id` and `refresh_token` renew a token; keys have no `expires_at`. */
  client_id?: string
  refresh_token?: string
  expires_at?: string
}

export type Profiles = { current: string | null; profiles: Record<string, Profile> }

function profilesPath(): string {
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
    throw new UsageError(
      `${profilesPath()} is not valid JSON. Fix it, or delete it and log in again.`,
    )
  }
}

/** Replaces the file atomically and keeps it readable by its owner only, as it holds bearers. */
async function writeProfiles(profiles: Profiles): Promise<void> {
  const path = profilesPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

/** Without a name, returns the current profile, or undefined if there is none. */
export async function findProfile(
  name: string | undefined,
): Promise<{ name: string; profile: Profile } | undefined> {
  const { current, profiles } = await readProfiles()
  const selected = name ?? current
  const profile = selected === null ? undefined : profiles[selected]
  if (selected !== null && profile !== undefined) return { name: selected, profile }
  if (name === undefined) return undefined
  throw new UsageError(`There is no profile ${name}. \`florin profiles\` lists them.`)
}

/** Saves a profile; the current one stays, because the next command must use the same account. */
export async function saveProfile(name: string, profile: Profile): Promise<void> {
  const { current, profiles } = await readProfiles()
  await writeProfiles({ current, profiles: { ...profiles, [name]: profile } })
}

/** Saves a profile and makes it the current one. */
export async function selectProfile(name: string, profile: Profile): Promise<void> {
  const { profiles } = await readProfiles()
  await writeProfiles({ current: name, profiles: { ...profiles, [name]: profile } })
}

export async function deleteProfile(name: string): Promise<void> {
  const { current, profiles } = await readProfiles()
  const { [name]: _dropped, ...others } = profiles
  const next = current === name ? (Object.keys(others)[0] ?? null) : current
  await writeProfiles({ current: next, profiles: others })
}
