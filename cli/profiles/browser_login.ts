import { spawn } from 'node:child_process'
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '#cli/exit_codes.ts'
import { FlorinError } from '#client/client.ts'
import { scope_names } from '#contract/scopes.ts'
import type { Profile } from './profiles.ts'
import { fetchOrThrow, profileOf, readOAuthResponse, requestTokens } from './tokens.ts'

export type BrowserLogin = { url: string; scope?: string; browser: boolean }

/** Same as the lifetime of the consent page. */
const CONSENT_TIMEOUT_MS = 15 * 60_000

/**
 * OAuth authorization code flow with PKCE and a loopback redirect (RFC 8252). The user signs in on
 * the server's own page, so the CLI never sees the password.
 */
export async function logInWithBrowser({ url, scope, browser }: BrowserLogin): Promise<Profile> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { resource, authorization_endpoint } = await discover(url)
    const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
    const client_id = await register(url, redirect_uri)
    const code_verifier = randomBytes(32).toString('base64url')
    const state = randomBytes(16).toString('base64url')
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri,
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
      scope: scope ?? scope_names.join(' '),
      resource,
    })
    const code = await requestConsent(server, `${authorization_endpoint}?${query}`, {
      state,
      browser,
    })
    const grant_type = 'authorization_code'
    const form = { grant_type, code, redirect_uri, client_id, code_verifier }
    return profileOf({ url, client_id }, await requestTokens(url, form))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The resource identifier can differ from the URL the user typed (RFC 9728). */
async function discover(
  url: string,
): Promise<{ resource: string; authorization_endpoint: string }> {
  const [{ resource }, { authorization_endpoint }] = (await Promise.all(
    ['oauth-protected-resource/v1', 'oauth-authorization-server'].map(async (name) =>
      readOAuthResponse(await fetchOrThrow(`${url}/.well-known/${name}`)),
    ),
  )) as [{ resource: string }, { authorization_endpoint: string }]
  return { resource, authorization_endpoint }
}

async function register(url: string, redirect_uri: string): Promise<string> {
  const body = JSON.stringify({
    client_name: 'Florin CLI',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'none',
  })
  const headers = { 'content-type': 'application/json' }
  const response = await fetchOrThrow(`${url}/oauth/register`, { method: 'POST', headers, body })
  const { client_id } = (await readOAuthResponse(response)) as { client_id: string }
  return client_id
}

type ConsentOptions = { state: string; browser: boolean }

function requestConsent(server: Server, address: string, { state, browser }: ConsentOptions) {
  process.stderr.write(`Open this page to log in:\n  ${address}\n`)
  if (browser) openPage(address)
  return new Promise<string>((resolve, reject) => {
    const onTimeout = () => reject(new UsageError('Login timed out. Run `florin login` again.'))
    const timer = setTimeout(onTimeout, CONSENT_TIMEOUT_MS)
    server.on('request', ({ url = '' }, response) => {
      // Not new URL, which throws for paths such as //.
      const [pathname, query] = url.split('?', 2)
      const searchParams = new URLSearchParams(query)
      // Another process that reaches this port does not know the state.
      if (pathname !== '/callback' || !isSame(searchParams.get('state') ?? '', state)) {
        response.writeHead(404).end()
        return
      }
      clearTimeout(timer)
      const code = searchParams.get('code')
      const sentence = code === null ? 'You are not logged in.' : 'You are logged in.'
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
      response.end(`${sentence} You can close this page.\n`)
      if (code === null) reject(refusalIn(searchParams))
      else resolve(code)
    })
  })
}

/** The service also redirects errors of a request, which nobody has denied. */
function refusalIn(callback: URLSearchParams): FlorinError {
  const code = callback.get('error') ?? 'unexpected_response'
  const reason = callback.get('error_description') ?? code
  const message =
    code === 'access_denied' ? 'Access was denied on the consent page.' : `Login failed: ${reason}.`
  return new FlorinError({ code, message, status: 403 })
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Errors are ignored: without a browser, the user can still open the printed URL. */
function openPage(address: string): void {
  const [command, ...words] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...words, address], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
