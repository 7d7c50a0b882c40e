import { FlorinError } from '#client/client.ts'
import { type Profile, saveProfile } from './profiles.ts'

/** Renew this long before expiry, so that the token does not expire in transit. */
const REFRESH_MARGIN_MS = 30_000

export type Tokens = { access_token: string; refresh_token?: string; expires_in?: number }

/** Renews an access token (valid for an hour) that has expired or is about to. */
export async function refreshProfile(name: string, profile: Profile): Promise<Profile> {
  const { refresh_token, expires_at, client_id, url } = profile
  if (refresh_token === undefined || client_id === undefined) return profile
  if (Date.parse(expires_at ?? '') > Date.now() + REFRESH_MARGIN_MS) return profile
  const form = { grant_type: 'refresh_token', refresh_token, client_id }
  const tokens = await requestTokens(url, form).catch((cause: unknown) => {
    throw isRefusal(cause) ? loginEnded(name, cause) : cause
  })
  const fresh = profileOf({ url, client_id }, tokens)
  const renewed = { ...profile, ...fresh }
  await saveProfile(name, renewed)
  return renewed
}

const isRefusal = (cause: unknown): cause is FlorinError =>
  cause instanceof FlorinError && ['invalid_grant', 'invalid_client'].includes(cause.code)

/** OAuth only says "grant request is invalid": neither the cause nor the cure. */
function loginEnded(name: string, { status, request_id }: FlorinError): FlorinError {
  const message = `The login of profile ${name} has expired or was revoked.`
  return new FlorinError({ code: 'invalid_token', message, status, request_id })
}

export function profileOf(
  { url, client_id }: { url: string; client_id: string },
  { access_token, refresh_token, expires_in = 3_600 }: Tokens,
): Profile {
  const expires_at = new Date(Date.now() + expires_in * 1_000).toISOString()
  const renewal = refresh_token === undefined ? {} : { refresh_token }
  return { url, kind: 'token', bearer: access_token, client_id, expires_at, ...renewal }
}

export async function requestTokens(url: string, form: Record<string, string>): Promise<Tokens> {
  return readOAuthResponse(await postForm(`${url}/oauth/token`, form)) as Promise<Tokens>
}

export const postForm = (address: string, form: Record<string, string>): Promise<Response> =>
  fetchOrThrow(address, { method: 'POST', body: new URLSearchParams(form) })

export async function fetchOrThrow(address: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(address, init)
  } catch (cause) {
    const message = `Could not reach ${address}.`
    throw new FlorinError({ code: 'network_error', message, cause })
  }
}

/** Converts OAuth error responses into FlorinError. */
export async function readOAuthResponse(response: Response): Promise<unknown> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  if (response.ok) return body
  throw new FlorinError({
    code: String(body['error'] ?? 'unexpected_response'),
    message: String(body['error_description'] ?? body['message'] ?? `HTTP ${response.status}`),
    status: response.status === 400 && body['error'] === 'invalid_grant' ? 401 : response.status,
    request_id: response.headers.get('request-id'),
  })
}
