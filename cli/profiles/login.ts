import { UsageError } from '#cli/exit_codes.ts'
import { ask, askSecretly, lineFromInput } from '#cli/prompt.ts'
import { createClient } from '#client/client.ts'
import { logInByBrowser } from './browser_login.ts'
import { type ConnectionOptions, connectionOf } from './connection.ts'
import { dropProfile, findProfile, keepProfile, type Profile, readProfiles } from './profiles.ts'
import { postForm } from './tokens.ts'

export type LoginOptions = ConnectionOptions & {
  email?: string
  password?: string
  totp_code?: string
  scope?: string
  browser: boolean
}

/** Keeps a way in under a name: a key, a session of e-mail and password, or a token. */
export async function login(options: LoginOptions): Promise<void> {
  const { key, profile: named, ...asked } = options
  const { url } = await connectionOf({ ...asked, key: key ?? '' })
  const profile = await profileBy({ ...options, url })
  const name = named ?? new URL(url).host
  await keepProfile(name, profile)
  process.stdout.write(`Logged in to ${url} as profile ${name}.\n`)
}

async function profileBy(options: LoginOptions & { url: string }): Promise<Profile> {
  const { url, key, email, scope, browser } = options
  if (key !== undefined) {
    const bearer = key === '-' ? await lineFromInput() : key
    await createClient({ url, bearer }).get_account()
    return { url, kind: 'key', bearer }
  }
  if (email === undefined) {
    return logInByBrowser({ url, browser, ...(scope !== undefined && { scope }) })
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
    return attempt(await ask('Code of the authenticator app: '))
  })
  return { bearer: String(session.bearer), expires_at: session.expires_at }
}

async function passwordOf({ password }: LoginOptions): Promise<string> {
  if (password === '-') return lineFromInput()
  if (password !== undefined) return password
  if (process.stdin.isTTY) return askSecretly('Password: ')
  throw new UsageError('Give the password with --password - and standard input.')
}

/** Ends what can be ended at the programme too, and forgets the profile whatever it answers. */
export async function logout({ profile: named }: ConnectionOptions): Promise<void> {
  const found = await findProfile(named)
  if (found === undefined) throw new UsageError('Nobody is logged in.')
  const { name, profile } = found
  await endAtProgramme(profile).catch((cause: unknown) => {
    process.stderr.write(`${profile.url} was not told: ${(cause as Error).message}\n`)
  })
  await dropProfile(name)
  process.stdout.write(`Profile ${name} is gone.\n`)
}

async function endAtProgramme({ url, kind, bearer, refresh_token, client_id }: Profile) {
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
  process.stdout.write(`${text || 'Nobody is logged in. `florin login` begins.'}\n`)
}

export async function useProfile(name: string): Promise<void> {
  const found = await findProfile(name)
  if (found !== undefined) await keepProfile(name, found.profile)
}
