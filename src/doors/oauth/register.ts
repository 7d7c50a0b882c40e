import { isAppUri } from './app_scheme.ts'
import { DETAIL_TYPES } from './card_details.ts'

/** A registration error of RFC 7591. */
export class RegistrationError extends Error {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata'

  constructor(error: RegistrationError['error'], message: string) {
    super(message)
    this.error = error
  }
}

const URIS_MAX = 10
const URI_LENGTH_MAX = 2_000
const NAME_LENGTH_MAX = 100
const METHODS = ['none', 'client_secret_basic', 'client_secret_post']
const GRANT_TYPES = ['authorization_code', 'refresh_token']

type Metadata = Readonly<Record<string, unknown>>

/**
 * Validates the metadata of a client. Unknown fields are ignored, as the RFC requires; known ones
 * must be valid. Scopes are not stored: each request asks for them, and the owner grants them.
 */
export function validateClientMetadata(value: Metadata): Record<string, unknown> {
  const redirect_uris = requireRedirectUris(value['redirect_uris'])
  const isNative = redirect_uris.some((uri) => !uri.startsWith('https:'))
  return {
    redirect_uris,
    application_type: isNative ? 'native' : 'web',
    token_endpoint_auth_method: requireAuthMethod(value['token_endpoint_auth_method']),
    grant_types: requireGrantTypes(value['grant_types']),
    response_types: requireResponseTypes(value['response_types']),
    authorization_details_types: [...DETAIL_TYPES],
    ...optional('client_name', cleanName(value['client_name'])),
    ...optional('client_uri', httpsUrlOrNull(value['client_uri'])),
    ...optional('logo_uri', httpsUrlOrNull(value['logo_uri'])),
  }
}

const optional = (name: string, value: string | null) => (value === null ? {} : { [name]: value })

function requireRedirectUris(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > URIS_MAX) {
    throw invalidRedirectUri(`redirect_uris must be a list of 1 to ${URIS_MAX} URIs`)
  }
  return value.map(requireRedirectUri)
}

/** Refuses control characters and lone surrogates: URL drops them, the stored text keeps them. */
function isUrl(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > URI_LENGTH_MAX) return false
  return URL.canParse(value) && !/\p{C}/u.test(value)
}

const LOOPBACKS = ['localhost', '127.0.0.1', '[::1]']

export function isLoopback(uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, hostname } = new URL(uri)
  return protocol === 'http:' && LOOPBACKS.includes(hostname)
}

function requireRedirectUri(value: unknown): string {
  if (!isUrl(value)) throw invalidRedirectUri('each redirect URI must be an absolute URI')
  const url = new URL(value)
  const { protocol, username, password, hash } = url
  if (hash !== '' || value.includes('#'))
    throw invalidRedirectUri('a redirect URI must not have a fragment')
  if (username !== '' || password !== '')
    throw invalidRedirectUri('a redirect URI must not have a user or password')
  if (protocol === 'https:') return value
  if (protocol === 'http:') {
    if (isLoopback(value)) return value
    throw invalidRedirectUri('http is only allowed for loopback addresses')
  }
  if (isAppUri(url)) return value
  throw invalidRedirectUri(
    `${protocol} is not an allowed scheme: use a reversed domain (com.example.app:/callback) ` +
      'or the app name with a host (myapp://callback)',
  )
}

function requireAuthMethod(value: unknown): string {
  if (value === undefined) return 'client_secret_basic'
  if (METHODS.includes(value as string)) return value as string
  throw invalidMetadata(`token_endpoint_auth_method must be one of ${METHODS.join(', ')}`)
}

function requireGrantTypes(value: unknown): string[] {
  if (value === undefined) return GRANT_TYPES
  const list = Array.isArray(value) ? value.filter((type) => GRANT_TYPES.includes(type)) : []
  if (list.includes('authorization_code')) return [...new Set<string>(list)]
  throw invalidMetadata('grant_types must include authorization_code')
}

function requireResponseTypes(value: unknown): string[] {
  if (value === undefined || (Array.isArray(value) && value.includes('code'))) return ['code']
  throw invalidMetadata('response_types must include code')
}

/** Shown on the consent page, so it must be one line of ordinary characters. */
function cleanName(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw invalidMetadata('client_name must be a string')
  const line = value
    .normalize('NFKC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line === '' ? null : [...line].slice(0, NAME_LENGTH_MAX).join('').trim()
}

/** The URL is stored but never fetched. */
function httpsUrlOrNull(value: unknown): string | null {
  return isUrl(value) && value.startsWith('https://') ? value : null
}

const invalidRedirectUri = (message: string) =>
  new RegistrationError('invalid_redirect_uri', message)
const invalidMetadata = (message: string) =>
  new RegistrationError('invalid_client_metadata', message)
