import assert from 'node:assert/strict'
import * as oauth from 'oauth4webapi'
import { Browser, boxesIn, type LoadedPage } from './browser.ts'
import { PASSWORD, type Person } from './people.ts'
import { freePort } from './port.ts'
import { startTestService, type TestService } from './start.ts'

/** Tokens are bound to the service's URL, so its port must be known before it starts. */
export async function startAgentService(
  options: NonNullable<Parameters<typeof startTestService>[0]> = {},
): Promise<TestService> {
  const port = String(await freePort())
  return startTestService({ ...options, env: { FLORIN_PORT: port, ...options.env } })
}

const insecure = { [oauth.allowInsecureRequests]: true }

export const REDIRECT = 'http://127.0.0.1:9/callback'

/** A registered OAuth client, with the metadata that the client library needs. */
export type Agent = {
  url: string
  server: oauth.AuthorizationServer
  client: oauth.Client
  redirect_uri: string
  authentication: oauth.ClientAuth
}

export async function registerAgent(
  url: string,
  metadata: Record<string, unknown> = {},
): Promise<Agent> {
  const issuer = new URL(url)
  const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, discovery)
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    { client_name: 'Test agent', redirect_uris: [REDIRECT], ...metadata },
    insecure,
  )
  const client = await oauth.processDynamicClientRegistrationResponse(response)
  const [redirect_uri = ''] = client['redirect_uris'] as string[]
  const method = client['token_endpoint_auth_method']
  const secret = String(client['client_secret'])
  const authentication =
    method === 'none'
      ? oauth.None()
      : method === 'client_secret_post'
        ? oauth.ClientSecretPost(secret)
        : oauth.ClientSecretBasic(secret)
  return { url, server, client, redirect_uri, authentication }
}

export type AuthorizationRequest = {
  scope?: string
  /** Null names none. */
  resource?: string | null
  authorization_details?: object[]
  params?: Record<string, string>
}

export type AuthorizationAttempt = { verifier: string; state: string; url: string }

export async function startAuthorization(
  agent: Agent,
  request: AuthorizationRequest = {},
): Promise<AuthorizationAttempt> {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const query = new URLSearchParams({
    client_id: agent.client.client_id,
    response_type: 'code',
    redirect_uri: agent.redirect_uri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  })
  const { resource = `${agent.url}/mcp` } = request
  if (resource !== null) query.set('resource', resource)
  if (request.scope !== undefined) query.set('scope', request.scope)
  if (request.authorization_details !== undefined) {
    query.set('authorization_details', JSON.stringify(request.authorization_details))
  }
  for (const [name, value] of Object.entries(request.params ?? {})) query.set(name, value)
  return { verifier, state, url: `${agent.server.authorization_endpoint}?${query}` }
}

/** Opens the authorization request and signs in if necessary; returns the consent page. */
export async function openConsent(
  browser: Browser,
  url: string,
  person: Person,
): Promise<LoadedPage> {
  const first = await browser.open(url)
  assert.equal(first.status, 200, first.text)
  if (!first.text.includes('name="password"')) return first
  const { email } = person
  return browser.submit(first, 'sign_in', { email, password: PASSWORD })
}

export type Choice = { scopes?: string[]; cards?: string[] }

/** Allows the preselected scopes and cards, or `choice`; returns the redirect's URL. */
export async function allow(browser: Browser, page: LoadedPage, choice: Choice = {}): Promise<URL> {
  const boxes = boxesIn(page.text, 'scope')
  const scope = choice.scopes ?? Object.keys(boxes).filter((name) => boxes[name])
  const cards = choice.cards === undefined ? {} : { cards: 'some', card: choice.cards }
  const asked = page.text.includes('<input type="hidden" name="cards" value="some">')
  const own =
    asked && choice.cards === undefined ? { card: Object.keys(boxesIn(page.text, 'card')) } : {}
  const sent = await browser.submit(page, 'allow', { scope, ...own, ...cards })
  return new URL(sent.url)
}

export type Tokens = { access_token: string; refresh_token: string; scope: string; body: object }

export async function exchange(
  agent: Agent,
  { verifier, state }: AuthorizationAttempt,
  callback: URL,
): Promise<Tokens> {
  const params = oauth.validateAuthResponse(agent.server, agent.client, callback, state)
  const response = await oauth.authorizationCodeGrantRequest(
    agent.server,
    agent.client,
    agent.authentication,
    params,
    agent.redirect_uri,
    verifier,
    insecure,
  )
  return tokensIn(
    await oauth.processAuthorizationCodeResponse(agent.server, agent.client, response),
  )
}

export async function refresh(
  agent: Agent,
  token: string,
  additional: Record<string, string> = {},
): Promise<Tokens> {
  const response = await oauth.refreshTokenGrantRequest(
    agent.server,
    agent.client,
    agent.authentication,
    token,
    { ...insecure, additionalParameters: additional },
  )
  return tokensIn(await oauth.processRefreshTokenResponse(agent.server, agent.client, response))
}

function tokensIn(body: oauth.TokenEndpointResponse): Tokens {
  return {
    access_token: body.access_token,
    refresh_token: String(body.refresh_token),
    scope: String(body.scope),
    body,
  }
}

/** The whole flow: authorization request, sign-in, consent, token exchange. */
export async function authorize(
  agent: Agent,
  person: Person,
  request: AuthorizationRequest & Choice & { browser?: Browser } = {},
): Promise<Tokens> {
  const browser = request.browser ?? new Browser(agent.url)
  const attempt = await startAuthorization(agent, request)
  const page = await openConsent(browser, attempt.url, person)
  assert.equal(page.status, 200, page.text)
  const callback = await allow(browser, page, request)
  return exchange(agent, attempt, callback)
}
