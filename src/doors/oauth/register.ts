import { isIP } from 'node:net'
import { isAppUri } from './app_scheme.ts'

/** A registration error of RFC 7591. */
export class RegistrationError extends Error {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata'

  constructor(error: RegistrationError['error'], sentence: string) {
    super(sentence)
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
export function clientMetadata(given: Metadata): Record<string, unknown> {
  const redirect_uris = redirectUris(given['redirect_uris'])
  const isNative = redirect_uris.some((uri) => !uri.startsWith('https:'))
  return {
    redirect_uris,
    application_type: isNative ? 'native' : 'web',
    token_endpoint_auth_method: authMethod(given['token_endpoint_auth_method']),
    grant_types: grantTypes(given['grant_types']),
    response_types: responseTypes(given['response_types']),
    authorization_details_types: ['card_access'],
    ...named('client_name', nameOf(given['client_name'])),
    ...named('client_uri', pageOf(given['client_uri'])),
    ...named('logo_uri', pageOf(given['logo_uri'])),
  }
}

const named = (name: string, value: string | null) => (value === null ? {} : { [name]: value })

function redirectUris(given: unknown): string[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > URIS_MAX) {
    throw wrongUri(`redirect_uris must be a list of 1 to ${URIS_MAX} addresses`)
  }
  return given.map(redirectUri)
}

/** URL silently accepts control characters and lone surrogates, but the stored text keeps them. */
function isAddress(given: unknown): given is string {
  if (typeof given !== 'string' || given.length > URI_LENGTH_MAX) return false
  return URL.canParse(given) && !/\p{C}/u.test(given)
}

const LOOPBACKS = ['localhost', '127.0.0.1', '[::1]']

export function isLoopback(uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, hostname } = new URL(uri)
  return protocol === 'http:' && LOOPBACKS.includes(hostname)
}

function redirectUri(given: unknown): string {
  if (!isAddress(given)) throw wrongUri('each redirect URI must be an absolute address')
  const address = new URL(given)
  const { protocol, hostname, username, password, hash } = address
  if (hash !== '' || given.includes('#')) throw wrongUri('a redirect URI has no fragment')
  if (username !== '' || password !== '') throw wrongUri('a redirect URI has no user or password')
  if (protocol === 'https:') {
    if (hostname === '' || isIP(hostname.replace(/[[\]]/g, '')) !== 0) {
      throw wrongUri('a https redirect URI goes to a host that has a name')
    }
    return given
  }
  if (protocol === 'http:') {
    if (isLoopback(given)) return given
    throw wrongUri('http is for the loopback address only')
  }
  if (isAppUri(address)) return given
  throw wrongUri(
    `${protocol} is not an app's own scheme: use a reversed domain (com.example.app:/callback) ` +
      'or the name of the app with a host (myapp://callback)',
  )
}

function authMethod(given: unknown): string {
  if (given === undefined) return 'client_secret_basic'
  if (METHODS.includes(given as string)) return given as string
  throw wrongMetadata(`token_endpoint_auth_method can be ${METHODS.join(', ')}`)
}

function grantTypes(given: unknown): string[] {
  if (given === undefined) return GRANT_TYPES
  const list = Array.isArray(given) ? given.filter((type) => GRANT_TYPES.includes(type)) : []
  if (list.includes('authorization_code')) return [...new Set<string>(list)]
  throw wrongMetadata('grant_types must have authorization_code')
}

function responseTypes(given: unknown): string[] {
  if (given === undefined || (Array.isArray(given) && given.includes('code'))) return ['code']
  throw wrongMetadata('response_types must have code')
}

/** Shown on the consent page, so it must be one line of ordinary characters. */
function nameOf(given: unknown): string | null {
  if (given === undefined || given === null) return null
  if (typeof given !== 'string') throw wrongMetadata('client_name must be a string')
  const line = given
    .normalize('NFKC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line === '' ? null : [...line].slice(0, NAME_LENGTH_MAX).join('').trim()
}

/** Stored, but never fetched. */
function pageOf(given: unknown): string | null {
  return isAddress(given) && given.startsWith('https://') ? given : null
}

const wrongUri = (sentence: string) => new RegistrationError('invalid_redirect_uri', sentence)
const wrongMetadata = (sentence: string) =>
  new RegistrationError('invalid_client_metadata', sentence)
