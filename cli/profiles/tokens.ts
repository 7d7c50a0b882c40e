import { FlorinError } from '#client/client.ts'
import { keepProfile, type Profile } from './profiles.ts'

/** So long before its end a token is renewed, so that it does not end on the way. */
const MARGIN_MS = 30_000

export type Tokens = { access_token: string; refresh_token?: string; expires_in?: number }

/** The profile with a bearer that works: tokens last an hour and are renewed when used. */
export async function freshened(name: string, profile: Profile): Promise<Profile> {
  const { refresh_token, expires_at, client_id, url } = profile
  if (refresh_token === undefined || client_id === undefined) return profile
  if (Date.parse(expires_at ?? '') > Date.now() + MARGIN_MS) return profile
  const form = { grant_type: 'refresh_token', refresh_token, client_id }
  const fresh = profileOf({ url, client_id }, await askTokens(url, form))
  const kept = { ...profile, ...fresh }
  await keepProfile(name, kept)
  return kept
}

export function profileOf(
  { url, client_id }: { url: string; client_id: string },
  { access_token, refresh_token, expires_in = 3_600 }: Tokens,
): Profile {
  const expires_at = new Date(Date.now() + expires_in * 1_000).toISOString()
  const renewal = refresh_token === undefined ? {} : { refresh_token }
  return { url, kind: 'token', bearer: access_token, client_id, expires_at, ...renewal }
}

export async function askTokens(url: string, form: Record<string, string>): Promise<Tokens> {
  return answerOf(await postForm(`${url}/oauth/token`, form)) as Promise<Tokens>
}

export const postForm = (address: string, form: Record<string, string>): Promise<Response> =>
  asked(address, { method: 'POST', body: new URLSearchParams(form) })

export async function asked(address: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(address, init)
  } catch (cause) {
    const message = `${address} could not be reached.`
    throw new FlorinError({ code: 'network_error', message, cause })
  }
}

/** OAuth has errors of its own; here they are told like all others. */
export async function answerOf(response: Response): Promise<unknown> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  if (response.ok) return body
  throw new FlorinError({
    code: String(body['error'] ?? 'unexpected_answer'),
    message: String(body['error_description'] ?? body['message'] ?? `HTTP ${response.status}`),
    status: response.status === 400 && body['error'] === 'invalid_grant' ? 401 : response.status,
    request_id: response.headers.get('request-id'),
  })
}
