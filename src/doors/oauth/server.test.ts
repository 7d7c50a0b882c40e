import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { default_scopes, scope_names } from '#contract/scopes.ts'
import {
  allow,
  authorize,
  exchange,
  openConsent,
  refresh,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser, boxesIn } from '#test/support/browser.ts'
import { advance, auditLog } from '#test/support/calls.ts'
import { type Reply, send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { callTool, rpc } from '#test/support/mcp.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'

const log = recordingLog()
const { url, runtime, home } = await startAgentService({ dependencies: { log: log.log } })
const person = await openAccount(url)

const register = (body: object): Promise<Reply> => send(url, 'POST', '/oauth/register', { body })
const isLive = async (token: string) =>
  (await rpc(url, 'ping', {}, { bearer: token })).status === 200

test('an agent registers, receives the scopes its owner checked, and calls operations with them', async () => {
  for (const method of ['none', 'client_secret_basic', 'client_secret_post']) {
    const agent = await registerAgent(url, { token_endpoint_auth_method: method })
    assert.equal(agent.client['client_secret'] === undefined, method === 'none')
    assert.equal(agent.client['scope'], default_scopes.join(' '))
    const tokens = await authorize(agent, person)
    assert.deepEqual(new Set(tokens.scope.split(' ')), new Set(default_scopes))
    const account = await callTool(url, 'get_account', {}, tokens.access_token)
    assert.equal(account.structuredContent['id'], person.account_id)
    const limits = await callTool(url, 'get_limits', {}, tokens.access_token)
    assert.deepEqual(limits.structuredContent['credential'], {
      type: 'oauth_client',
      id: agent.client.client_id,
      card_ids: null,
    })
  }
  const actions = (await auditLog(url, person.bearer)).map(({ action }) => action)
  for (const action of ['oauth.client_registered', 'oauth.granted', 'oauth.used']) {
    assert.equal(actions.filter((each) => each === action).length, 3, action)
  }
})

test('registration needs no scope, ignores unknown fields and grants nothing', async () => {
  const reply = await register({
    redirect_uris: ['https://app.example/callback'],
    scope: 'card:reveal_pan withdrawal:create',
    client_id: 'chosen-by-me',
    nonsense: true,
    jwks_uri: 'http://127.0.0.1:1/keys',
  })
  assert.equal(reply.status, 201, reply.text)
  assert.notEqual(reply.body['client_id'], 'chosen-by-me')
  assert.equal(reply.body['scope'], default_scopes.join(' '))
  assert.equal(reply.body['jwks_uri'], undefined)
  assert.equal(reply.headers.get('access-control-allow-origin'), '*')
  const own = await fetch(String(reply.body['registration_client_uri']), {
    headers: { authorization: `Bearer ${reply.body['registration_access_token']}` },
  })
  assert.equal(own.status, 200)
  assert.equal(((await own.json()) as Record<string, unknown>)['client_secret'], undefined)
})

test('registration accepts only https, loopback and app redirect URIs', async () => {
  const good = [
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'https://203.0.113.7/callback',
    'https://[2001:db8::7]:8443/callback',
    'http://localhost:8787/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:5000/x',
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ]
  assert.equal((await register({ redirect_uris: good })).status, 201)
  const bad = [
    'http://app.example/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://user:secret@app.example/',
    'https://app.example/#fragment',
    'callback',
    '',
  ]
  for (const uri of bad) {
    const reply = await register({ redirect_uris: [uri] })
    assert.equal(reply.status, 400, uri)
    assert.equal(reply.body['error'], 'invalid_redirect_uri', uri)
  }
  assert.equal((await register({})).body['error'], 'invalid_redirect_uri')
  assert.equal((await register({ redirect_uris: Array(11).fill(good[0]) })).status, 400)
  const huge = await register({ redirect_uris: [good[0]], client_name: 'x'.repeat(1_000_000) })
  assert.equal(huge.status, 413)
})

test('the metadata is correct and does not depend on the Host header', async () => {
  const path = '/.well-known/oauth-authorization-server'
  const forged = await new Promise<string>((resolve, reject) => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
    request(url + path, { headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
  const { body } = await send(url, 'GET', path)
  assert.deepEqual(JSON.parse(forged), body)
  assert.equal(body['issuer'], url)
  assert.equal(body['token_endpoint'], `${url}/oauth/token`)
  assert.equal(body['registration_endpoint'], `${url}/oauth/register`)
  assert.deepEqual(body['code_challenge_methods_supported'], ['S256'])
  assert.deepEqual(body['scopes_supported'], [...scope_names, 'offline_access'])
  assert.equal(body['authorization_response_iss_parameter_supported'], true)
  for (const name of Object.keys(body).filter((name) => name.endsWith('_endpoint'))) {
    assert.match(String(body[name]), /\/oauth\/(authorize|token|register|revoke)$/, name)
  }
  assert(!Object.keys(body).some((name) => name.startsWith('dpop_')))

  for (const [suffix, resource] of [
    ['', '/mcp'],
    ['/mcp', '/mcp'],
    ['/v1', '/v1'],
  ]) {
    const reply = await send(url, 'GET', `/.well-known/oauth-protected-resource${suffix}`)
    assert.equal(reply.body['resource'], url + resource)
    assert.deepEqual(reply.body['authorization_servers'], [url])
    assert.deepEqual(reply.body['scopes_supported'], default_scopes)
  }
  const unknown = await send(url, 'GET', '/v1/accounts/me')
  assert.match(
    unknown.headers.get('www-authenticate') ?? '',
    /resource_metadata="[^"]+\/oauth-protected-resource\/v1"/,
  )
})

test('the consent page shows client and redirect host; opt-in scopes start unchecked', async () => {
  const agent = await registerAgent(url, { client_name: 'Evil <script>alert(1)</script>\u202E' })
  const { url: address } = await startAuthorization(agent, { scope: scope_names.join(' ') })
  const page = await openConsent(new Browser(url), address, person)
  assert.match(page.text, /Evil &#60;script&#62;/)
  assert.doesNotMatch(page.text, /<script>alert|\u202E/)
  assert.match(page.text, /<span class="host">127\.0\.0\.1:9<\/span>/)
  const boxes = boxesIn(page.text, 'scope')
  assert.deepEqual(Object.keys(boxes).sort(), [...scope_names].sort())
  const empty = Object.keys(boxes).filter((scope) => !boxes[scope])
  assert.deepEqual(empty, ['card:reveal_pan', 'withdrawal:create'])
  const noted = page.text.split('<label').filter((box) => box.includes('limited to certain cards'))
  assert.deepEqual(
    noted.map((box) => /name="scope" value="([^"]+)"/.exec(box)?.[1]),
    ['topup:create', 'withdrawal:create', 'webhook:write'],
  )
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /frame-ancestors 'none'/)
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'sha256-[^' ]+'$/, 'only our own script may run')
  assert.equal(page.headers.get('x-frame-options'), 'DENY')
  assert.equal(page.headers.get('cache-control'), 'no-store')
})

test('consent can be partial, and refused scopes can be requested again', async () => {
  const agent = await registerAgent(url)
  const browser = new Browser(url)
  const scope = 'account:read card:read card:issue'
  const some = await authorize(agent, person, { browser, scope, scopes: ['account:read'] })
  assert.equal(some.scope, 'account:read')
  const denied = await rpc(url, 'tools/call', { name: 'list_cards' }, { bearer: some.access_token })
  assert.equal(denied.status, 403)
  const all = await authorize(agent, person, { browser, scope })
  assert.deepEqual(new Set(all.scope.split(' ')), new Set(scope.split(' ')))
  const narrowed = { browser, scope, scopes: ['card:read'] }
  await authorize(agent, person, narrowed)
  const { scopes } = await runtime.credentials.callerOf(all.access_token, 'mcp')
  assert.deepEqual([...scopes], ['card:read'], 'an older token has no more scopes than the grant')
})

test('a refusal is returned to the client and recorded in the audit log', async () => {
  const agent = await registerAgent(url)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent)
  const page = await openConsent(browser, attempt.url, person)
  const { url: sent_to } = await browser.submit(page, 'deny')
  const response = new URL(sent_to).searchParams
  assert.equal(response.get('error'), 'access_denied')
  assert.equal(response.get('state'), attempt.state)
  assert.equal(response.get('iss'), url)
  const entries = await auditLog(url, person.bearer, '&action=oauth.refused')
  assert.equal(entries.at(-1)?.resource?.id, agent.client.client_id)
  assert.equal(entries.at(-1)?.result, 'denied')
})

test('signing in on the page asks for the second factor if it is enabled', async () => {
  const other = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, other.bearer, runtime.clock)
  const agent = await registerAgent(url)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent)
  const first = await browser.open(attempt.url)
  const wrong = await browser.submit(first, 'sign_in', {
    email: other.email,
    password: 'wrong one',
  })
  assert.equal(wrong.status, 401)
  assert.match(wrong.text, /Incorrect email or password/)
  const second = await browser.submit(wrong, 'sign_in', { email: other.email, password: PASSWORD })
  assert.match(second.text, /name="totp_code"/)
  assert.doesNotMatch(second.text, new RegExp(PASSWORD))
  const code = codeOf(secret, runtime.clock, 1)
  const consent = await browser.submit(second, 'code', { totp_code: code })
  assert.match(consent.text, /All current and future cards/)
  const tokens = await exchange(agent, attempt, await allow(browser, consent))
  const { account_id } = await runtime.credentials.callerOf(tokens.access_token, 'mcp')
  assert.equal(account_id, other.account_id)
})

test('another user can sign in with the same browser', async () => {
  const other = await openAccount(url)
  const agent = await registerAgent(url)
  const browser = new Browser(url)
  await authorize(agent, person, { browser })
  const attempt = await startAuthorization(agent)
  const page = await browser.open(attempt.url)
  assert.match(page.text, new RegExp(person.email))
  const sign_in = await browser.submit(page, 'switch')
  const consent = await browser.submit(sign_in, 'sign_in', {
    email: other.email,
    password: PASSWORD,
  })
  assert.match(consent.text, new RegExp(other.email))
})

test('OpenID scopes are ignored, and a resource may end with a slash', async () => {
  const agent = await registerAgent(url)
  const options = {
    scope: 'openid profile email account:read',
    resource: `${url}/mcp/`,
    params: { nonce: 'n' },
  }
  const tokens = await authorize(agent, person, options)
  assert.equal(tokens.scope, 'account:read')
  assert.equal('id_token' in tokens.body, false)
  assert(await isLive(tokens.access_token))
})

test('a token for one resource is not valid for the other', async () => {
  const agent = await registerAgent(url)
  const mcp = await authorize(agent, person)
  const rest = await authorize(agent, person, { resource: `${url}/v1` })
  const get = async (bearer: string) =>
    (await send(url, 'GET', '/v1/accounts/me', { bearer })).status
  assert.equal(await get(rest.access_token), 200)
  assert.equal(await get(mcp.access_token), 401)
  assert.equal(await isLive(mcp.access_token), true)
  assert.equal(await isLive(rest.access_token), false)
  const unknown = await startAuthorization(agent, { resource: 'https://elsewhere.example/mcp' })
  const page = await new Browser(url).open(unknown.url)
  assert.equal(new URL(page.url).searchParams.get('error'), 'invalid_target')
})

test('a token whose authorization named no resource is valid for both, unless it names one', async () => {
  const agent = await registerAgent(url)
  const attempt = await startAuthorization(agent, { resource: null })
  const browser = new Browser(url)
  const page = await openConsent(browser, attempt.url, person)
  assert.match(page.text, /grants access to the agent tools and the API/)
  const tokens = await exchange(agent, attempt, await allow(browser, page))
  const get = async (bearer: string) =>
    (await send(url, 'GET', '/v1/accounts/me', { bearer })).status
  assert.deepEqual([await get(tokens.access_token), await isLive(tokens.access_token)], [200, true])
  const mcp = await refresh(agent, tokens.refresh_token, { resource: `${url}/mcp` })
  assert.deepEqual([await get(mcp.access_token), await isLive(mcp.access_token)], [401, true])
  const rest = await refresh(agent, mcp.refresh_token, { resource: `${url}/v1` })
  assert.deepEqual([await get(rest.access_token), await isLive(rest.access_token)], [200, false])
  const again = await refresh(agent, rest.refresh_token)
  assert.deepEqual([await get(again.access_token), await isLive(again.access_token)], [200, true])
})

test('it stays valid for both if another account was chosen on the consent page', async () => {
  const other = await openAccount(url)
  const agent = await registerAgent(url)
  const attempt = await startAuthorization(agent, { resource: null })
  const browser = new Browser(url)
  const sign_in = await browser.submit(await openConsent(browser, attempt.url, person), 'switch')
  const page = await browser.submit(sign_in, 'sign_in', { email: other.email, password: PASSWORD })
  const { access_token } = await exchange(agent, attempt, await allow(browser, page))
  const reply = await send(url, 'GET', '/v1/accounts/me', { bearer: access_token })
  assert.deepEqual([reply.status, reply.body['id']], [200, other.account_id])
  assert(await isLive(access_token))
})

test('refresh rotates the token and can narrow its scopes but never widen them', async () => {
  const agent = await registerAgent(url)
  const first = await authorize(agent, person)
  const next = await refresh(agent, first.refresh_token)
  assert.notEqual(next.refresh_token, first.refresh_token)
  assert(await isLive(next.access_token))
  const narrow = await refresh(agent, next.refresh_token, { scope: 'account:read' })
  assert.equal(narrow.scope, 'account:read')
  await assert.rejects(refresh(agent, narrow.refresh_token, { scope: 'card:issue' }), {
    error: 'invalid_scope',
  })
})

test('processes may use a shared refresh token at the same time; a later replay ends the grant', async () => {
  const agent = await registerAgent(url)
  const first = await authorize(agent, person)
  const together = await Promise.all(
    Array.from({ length: 5 }, () => refresh(agent, first.refresh_token)),
  )
  for (const { access_token } of together) assert(await isLive(access_token))
  await advance(url, person.bearer, 11)
  await assert.rejects(refresh(agent, first.refresh_token), { error: 'invalid_grant' })
  for (const { access_token, refresh_token } of together) {
    assert.equal(await isLive(access_token), false)
    await assert.rejects(refresh(agent, refresh_token), { error: 'invalid_grant' })
  }
})

test('an access token expires after an hour', async () => {
  const agent = await registerAgent(url)
  const tokens = await authorize(agent, person)
  await advance(url, person.bearer, 3_590)
  assert(await isLive(tokens.access_token))
  await advance(url, person.bearer, 11)
  const reply = await rpc(url, 'ping', {}, { bearer: tokens.access_token })
  assert.equal(reply.status, 401)
  assert.equal(reply.body['error'], 'token_expired')
  assert(await isLive((await refresh(agent, tokens.refresh_token)).access_token))
})

test('no token or secret is stored in the database or the log', async () => {
  const agent = await registerAgent(url)
  const tokens = await authorize(agent, person)
  const databases = await Promise.all([runtime.db, home.db].map(wholeDatabase))
  const stored = databases.join() + log.text()
  for (const secret of [
    tokens.access_token,
    tokens.refresh_token,
    String(agent.client['client_secret']),
    String(agent.client['registration_access_token']),
  ]) {
    assert.equal(stored.includes(secret), false)
  }
})

test('unused clients are deleted after a day, and at most 10,000 are kept', async () => {
  const used = await registerAgent(url)
  await authorize(used, person)
  const unused = await registerAgent(url)
  await home.db.run(
    `insert into oauth_payloads (model, id, payload, created_at)
     select 'Client', 'flood_' || n, '{}', $1 from generate_series(1, 10050) n`,
    [runtime.clock.now()],
  )
  const clients = async () =>
    (
      await home.db.rows<{ id: string }>(`select id from oauth_payloads where model = 'Client'`)
    ).map(({ id }) => id)
  await advance(url, person.bearer, 1)
  const flood = (await clients()).filter((id) => id.startsWith('flood_'))
  assert(flood.length <= 10_000, `${flood.length} are kept`)
  await advance(url, person.bearer, 25 * 60 * 60)
  const remaining = await clients()
  assert(remaining.includes(used.client.client_id))
  assert.equal(remaining.includes(unused.client.client_id), false)
  assert.equal(
    remaining.some((id) => id.startsWith('flood_')),
    false,
  )
})
