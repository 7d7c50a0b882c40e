import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OperationName, operations } from '#contract/operations.ts'
import { default_scopes, scope_names } from '#contract/scopes.ts'
import {
  type Agent,
  allow,
  authorize,
  openConsent,
  REDIRECT,
  refresh,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { advance } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { createKey, openAccount } from '#test/support/people.ts'

const { url } = await startAgentService()
const person = await openAccount(url)
const agent = await registerAgent(url, { token_endpoint_auth_method: 'none' })

/** The end of an authorization request: the client's redirect URI with an error, or our page. */
async function endOf(params: Record<string, string>, dropped: string[] = []) {
  const attempt = await startAuthorization(agent, { params })
  const address = new URL(attempt.url)
  for (const name of dropped) address.searchParams.delete(name)
  const shown = await new Browser(url).open(address.toString())
  return { ...shown, error: new URL(shown.url).searchParams.get('error') }
}

function exchangeRaw(agent: Agent, code: string, verifier: string, redirect_uri = REDIRECT) {
  return fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: agent.client.client_id,
      code,
      redirect_uri,
      code_verifier: verifier,
    }),
  })
}

async function codeFor(agent: Agent) {
  const attempt = await startAuthorization(agent)
  const browser = new Browser(url)
  const callback = await allow(browser, await openConsent(browser, attempt.url, person))
  return { code: String(callback.searchParams.get('code')), verifier: attempt.verifier }
}

test('plain or missing PKCE and a wrong verifier are refused', async () => {
  assert.equal((await endOf({ code_challenge_method: 'plain' })).error, 'invalid_request')
  const missing = await endOf({}, ['code_challenge', 'code_challenge_method'])
  assert.equal(missing.error, 'invalid_request')
  const { code } = await codeFor(agent)
  const wrong = await exchangeRaw(agent, code, 'w'.repeat(43))
  assert.equal(wrong.status, 400)
  assert.equal(((await wrong.json()) as { error: string }).error, 'invalid_grant')
})

test('a redirect URI with another path, host or scheme shows our error page and no redirect', async () => {
  for (const redirect_uri of [
    'https://evil.example/callback',
    'http://127.0.0.1:9/callback/../evil',
    'http://127.0.0.1:9/other',
    'http://127.0.0.1:9/callback?x=1',
    'https://127.0.0.1:9/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://user@127.0.0.1:9/callback',
    'http://localhost:9/callback',
    'javascript:alert(1)',
  ]) {
    const { url: at, status } = await endOf({ redirect_uri })
    assert.equal(status, 400, redirect_uri)
    assert(at.startsWith(`${url}/oauth/authorize`), at)
  }
  const other_port = await endOf({ redirect_uri: 'http://127.0.0.1:4711/callback' })
  assert.equal(other_port.status, 200, 'a loopback client may listen on any port')
})

test('the redirect URI at the token endpoint must be the one of the authorization request', async () => {
  const { code, verifier } = await codeFor(agent)
  const moved = await exchangeRaw(agent, code, verifier, 'http://127.0.0.1:10/callback')
  assert.equal(moved.status, 400)
})

test('exactly one of 20 concurrent exchanges of a code succeeds, and its token works', async () => {
  const { code, verifier } = await codeFor(agent)
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => exchangeRaw(agent, code, verifier)),
  )
  const won = responses.filter(({ status }) => status === 200)
  assert.equal(won.length, 1)
  assert.equal(responses.filter(({ status }) => status === 400).length, 19)
  const [winner] = won
  assert(winner !== undefined)
  const { access_token } = (await winner.json()) as { access_token: string }
  assert.equal((await rpc(url, 'ping', {}, { bearer: access_token })).status, 200)
  await advance(url, person.bearer, 20)
  assert.equal((await exchangeRaw(agent, code, verifier)).status, 400)
  const ended = await rpc(url, 'ping', {}, { bearer: access_token })
  assert.equal(ended.status, 401, 'a code that comes back later was stolen')
})

test('a code of one client is refused for another', async () => {
  const { code, verifier } = await codeFor(agent)
  const other = await registerAgent(url, { token_endpoint_auth_method: 'none' })
  assert.equal((await exchangeRaw(other, code, verifier)).status, 400)
  const tokens = await authorize(agent, person)
  await assert.rejects(refresh(other, tokens.refresh_token), { error: 'invalid_grant' })
})

test('registering, refreshing or naming a tool does not add scopes', async () => {
  const greedy = await registerAgent(url, { scope: scope_names.join(' ') })
  const tokens = await authorize(greedy, person)
  assert.deepEqual(new Set(tokens.scope.split(' ')), new Set(default_scopes))
  await assert.rejects(refresh(greedy, tokens.refresh_token, { scope: 'card:reveal_pan' }))
  for (const name of ['issue_card', 'ISSUE_CARD', ' issue_card', 'issue_card\u0000', '__proto__']) {
    const reply = await rpc(
      url,
      'tools/call',
      { name, arguments: { type: 'virtual' } },
      { bearer: tokens.access_token },
    )
    const code = (reply.body['error'] as { code?: number } | undefined)?.code
    if (name === 'issue_card') assert.equal(reply.status, 403, reply.text)
    else assert.equal(code, -32_602, `${name}: ${reply.text}`)
  }
})

test('a tool outside the scopes returns 403 with the missing scope; session-only tools stay closed', async () => {
  const { access_token } = await authorize(agent, person, {
    scope: 'system:read',
    scopes: ['system:read'],
  })
  for (const name of Object.keys(operations) as OperationName[]) {
    const { access } = operations[name]
    if (access === 'anyone') continue
    const reply = await rpc(url, 'tools/call', { name, arguments: {} }, { bearer: access_token })
    if (access.oauth === null) {
      const result = reply.body['result'] as { structuredContent: { error: string } } | undefined
      assert.equal(result?.structuredContent.error, 'credential_not_allowed', name)
      continue
    }
    const needed = 'all' in access.oauth ? access.oauth.all : access.oauth.any
    if (needed.every((scope) => scope === 'system:read')) continue
    assert.equal(reply.status, 403, name)
    const header = reply.headers.get('www-authenticate') ?? ''
    assert.match(header, /error="insufficient_scope"/)
    const requested = /scope="([^"]*)"/.exec(header)?.[1]?.split(' ') ?? []
    assert(
      requested.includes('system:read') && requested.includes(needed[0] ?? ''),
      `${name}: ${header}`,
    )
    assert.match(header, /resource_metadata="[^"]+\/mcp"/)
  }
})

test('tools/list shows a token only the tools it may call', async () => {
  const { access_token } = await authorize(agent, person, {
    scope: 'account:read card:read',
    scopes: ['account:read', 'card:read'],
  })
  const { body } = await rpc(url, 'tools/list', {}, { bearer: access_token })
  const { tools } = body['result'] as unknown as { tools: { name: string }[] }
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      'create_account',
      'sign_in',
      'get_account',
      'list_cards',
      'get_card',
      'get_activity',
      'filter_activity',
      'request_password_reset',
      'reset_password',
      'list_approvals',
    ],
  )
})

test('a signed-in cookie grants nothing to a client without consent on the page', async () => {
  const browser = new Browser(url)
  await authorize(agent, person, { browser })
  for (const prompt of [undefined, 'none']) {
    const fresh = await registerAgent(url)
    const params = prompt === undefined ? {} : { prompt }
    const attempt = await startAuthorization(fresh, { params })
    const shown = await browser.open(attempt.url)
    assert.equal(new URL(shown.url).searchParams.get('code'), null)
    if (prompt === undefined) assert.match(shown.text, /Allow Test agent to access your account/)
    else
      assert.match(
        shown.text,
        /(consent|interaction)_required/,
        'the error is shown here, not redirected',
      )
  }
  const again = await browser.open((await startAuthorization(agent)).url)
  assert.match(again.text, /Allow Test agent/, 'and a known one asks again too')
})

test('a consent form from another site, without its CSRF token or from another browser is refused', async () => {
  const browser = new Browser(url)
  const page = await openConsent(browser, (await startAuthorization(agent)).url, person)
  const forged = await browser.submit(page, 'allow', { csrf: 'x', scope: [...default_scopes] })
  assert.equal(forged.status, 400)
  const elsewhere = await new Browser(url).submit(page, 'allow', { scope: [...default_scopes] })
  assert.equal(elsewhere.status, 400)
  const foreign = await fetch(page.url, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: new URLSearchParams({ step: 'allow' }),
  })
  assert.equal(foreign.status, 400)
})

test('a token is accepted only in the header, and not from another issuer or in another format', async () => {
  const { access_token } = await authorize(agent, person)
  const query = await send(url, 'POST', `/mcp?access_token=${access_token}`, {
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    headers: { accept: 'application/json, text/event-stream' },
  })
  assert.equal(query.status, 401)
  const none = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"x"}')}.`.replaceAll('=', '')
  for (const bearer of [none, `${access_token}x`, access_token.slice(1), 'fls_live_x', '%00']) {
    assert.equal((await rpc(url, 'ping', {}, { bearer })).status, 401, bearer)
  }
})

test('an agent cannot call operations that would extend its own access', async () => {
  const rest = await authorize(agent, person, {
    resource: `${url}/v1`,
    scope: scope_names.join(' '),
    scopes: [...scope_names],
  })
  const { id } = await createKey(url, person.bearer)
  for (const [method, path] of [
    ['POST', '/v1/api_keys'],
    ['GET', '/v1/api_keys'],
    ['DELETE', `/v1/api_keys/${id}`],
    ['POST', '/v1/accounts/me/totp'],
    ['PATCH', '/v1/accounts/me'],
    ['GET', '/v1/audit_log'],
    ['GET', '/v1/tickets'],
    ['POST', '/v1/tickets'],
    ['DELETE', '/v1/sessions'],
  ] as const) {
    const reply = await send(url, method, path, { bearer: rest.access_token })
    assert.equal(reply.status, 403, path)
    assert.equal(reply.body['error'], 'credential_not_allowed', path)
  }
  assert.equal((await send(url, 'GET', '/oauth/grants', { bearer: rest.access_token })).status, 403)
})
