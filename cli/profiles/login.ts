import { UsageError } from '#cli/exit_codes.ts'
import { ask, askHidden, readStdinLine } from '#cli/prompt.ts'
import { createClient } from '#client/client.ts'
import { logInWithBrowser } from './browser_login.ts'
import { type ConnectionOptions, resolveConnection } from './connection.ts'
import {
  deleteProfile,
  findProfile,
  type Profile,
  readProfiles,
  selectProfile,
} from './profiles.ts'
import { postForm } from './tokens.ts'

export type LoginOptions = ConnectionOptions & {
  email?: string
  password?: string
  totp_code?: string
  scope?: string
  browser: boolean
}

/** Saves an API key, a session (email and password) or an OAuth token as a named profile. */
export async function login(options: LoginOptions): Promise<void> {
  const { key, profile: named, ...rest } = options
  const { url } = await resolveConnection({ ...rest, key: key ?? '' })
  const profile = await authenticate({ ...options, url })
  const name = named ?? new URL(url).host
  await selectProfile(name, profile)
  process.stdout.write(`Logged in to ${url} as profile ${name}.\n`)
}

async function authenticate(options: LoginOptions & { url: string }): Promise<Profile> {
  const { url, key, email, scope, browser } = options
  if (key !== undefined) {
    const bearer = key === '-' ? await readStdinLine() : key
    await createClient({ url, bearer }).get_account()
    return { url, kind: 'key', bearer }
  }
  if (email === undefined) {
    return logInWithBrowser({ url, browser, ...(scope !== undefined && { scope }) })
  }
  const { bearer, expires_at } = await signIn({ ...options, email })
  return { url, kind: 'session', bearer, expires_at }
}

async function signIn(options: LoginOptions & { url: string; email: string }) {
  const { url, email, totp_code } = options
  const password = await passwordOf(options)
  const anyone = createClient({ url })
  const attempt = (code: string | undefined) => anyone.sign_in({ email, password, totp_code: code })
  const session = await attempt(totp_code).catch(async (cause) => {
    if (cause?.code !== 'totp_required' || !process.stdin.isTTY) throw cause
    return attempt(await ask('Authenticator code: '))
  })
  return { bearer: String(session.bearer), expires_at: session.expires_at }
}

async function passwordOf({ password }: LoginOptions): Promise<string> {
  if (password === '-') return readStdinLine()
  if (password !== undefined) return password
  if (process.stdin.isTTY) return askHidden('Password: ')
  throw new UsageError('No password. Pass --password - and write the password to stdin.')
}

/** Deletes the profile even if the server could not end its session or revoke its token. */
export async function logout({ profile: named }: ConnectionOptions): Promise<void> {
  const found = await findProfile(named)
  if (found === undefined) throw new UsageError('You are not logged in.')
  const { name, profile } = found
  await revokeOnServer(profile).catch((cause: unknown) => {
    process.stderr.write(`Could not log out of ${profile.url}: ${(cause as Error).message}\n`)
  })
  await deleteProfile(name)
  process.stdout.write(`Deleted profile ${name}.\n`)
}

async function revokeOnServer({ url, kind, bearer, refresh_token, client_id }: Profile) {
  if (kind === 'session') await createClient({ url, bearer }).sign_out()
  if (kind !== 'token') return
  const token = refresh_token ?? bearer
  await postForm(`${url}/oauth/revoke`, { token, client_id: client_id ?? '' })
}

export async function listProfiles({ json }: { json?: boolean }): Promise<void> {
  const { current, profiles } = await readProfiles()
  const rows = Object.entries(profiles).map(([name, { url, kind }]) => {
    return { name, url, kind, current: name === current }
  })
  const lines = rows.map((row) => `${row.current ? '*' : ' '} ${row.name}  ${row.kind}  ${row.url}`)
  const text = json ? JSON.stringify(rows, null, 2) : lines.join('\n')
  process.stdout.write(`${text || 'No profiles. Run `florin login` to create one.'}\n`)
}

export async function useProfile(name: string): Promise<void> {
  const found = await findProfile(name)
  if (found !== undefined) await selectProfile(name, found.profile)
}
