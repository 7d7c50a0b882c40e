import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { pathNames } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import {
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
import { assertRefused, mistype } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'
import { subscribe } from '#test/support/webhooks.ts'

/** Attacks that were tried and failed; docs/security_review.md lists them. */

const service = await startAgentService()
const { url, runtime } = service
const { clock, db } = runtime
const person = await openAccount(url)

const tokenRequest = (fields: Record<string, string>) =>
  fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) })

async function codeFor(metadata: object = { token_endpoint_auth_method: 'none' }) {
  const agent = await registerAgent(url, metadata as Record<string, unknown>)
  const attempt = await startAuthorization(agent)
  const browser = new Browser(url)
  const callback = await allow(browser, await openConsent(browser, attempt.url, person))
  const code = String(callback.searchParams.get('code'))
  const { client_id } = agent.client
  const fields = { grant_type: 'authorization_code', code, client_id, redirect_uri: REDIRECT }
  return { agent, attempt, fields }
}

test('session fixation: cookies from before the sign-in are not signed in afterwards', async () => {
  const victim = new Browser(url)
  const attempt = await startAuthorization(await registerAgent(url))
  const first = await victim.open(attempt.url)
  const planted = victim.copy()
  const { email } = person
  const consent = await victim.submit(first, 'sign_in', { email, password: PASSWORD })
  assert.match(consent.text, /Signed in as/)
  const again = await planted.open((await startAuthorization(await registerAgent(url))).url)
  assert.match(again.text, /name="password"/)
})

test('a cookie with a changed value or without its signature is not a session', async () => {
  const browser = new Browser(url)
  await openConsent(browser, (await startAuthorization(await registerAgent(url))).url, person)
  for (const forge of [
    (name: string, value: string) => (name.endsWith('.sig') ? '' : value),
    (name: string, value: string) => (name.endsWith('.sig') ? value : mistype(value)),
  ]) {
    const forged = browser.copy(forge)
    const shown = await forged.open((await startAuthorization(await registerAgent(url))).url)
    assert.match(shown.text, /name="password"/)
  }
})

test('clickjacking: no page of the authorization server can be framed', async () => {
  const browser = new Browser(url)
  const attempt = await startAuthorization(await registerAgent(url))
  const sign_in = await browser.open(attempt.url)
  const consent = await openConsent(new Browser(url), attempt.url, person)
  const error = await browser.open(`${url}/oauth/authorize?client_id=nobody`)
  const undo = await browser.open(`${url}/undo/${'x'.repeat(43)}`)
  for (const { headers, url: at } of [sign_in, consent, error, undo]) {
    assert.equal(headers.get('x-frame-options'), 'DENY', at)
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, at)
  }
})

test('a forged Host does not change the links in emails', async () => {
  const { account_id, bearer } = await openAccount(url)
  const path = '/v1/accounts/me/totp'
  const begun = await send(url, 'POST', path, { bearer })
  const body = JSON.stringify({ totp_code: codeOf(String(begun.body['secret']), clock) })
  const status = await new Promise((resolve, reject) => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
    }
    const sent = request(url + path, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.once('error', reject)
    sent.end(body)
  })
  const [mail] = await db.rows<{ body_text: string }>(
    'select body_text from notices where account_id = $1 order by id desc limit 1',
    [account_id],
  )
  assert.equal(status, 200)
  assert(mail?.body_text.includes(`${url}/undo/`))
  assert(!mail?.body_text.includes('evil.example'))
})

test('PKCE downgrade: a missing verifier, the challenge itself and a short verifier are refused', async () => {
  const { attempt, fields } = await codeFor()
  const challenge = String(new URL(attempt.url).searchParams.get('code_challenge'))
  for (const more of [{}, { code_verifier: challenge }, { code_verifier: 'short' }]) {
    assert.equal((await tokenRequest({ ...fields, ...more })).status, 400)
  }
})

test('a client with a secret must send its own secret', async () => {
  const method = { token_endpoint_auth_method: 'client_secret_post' }
  const { attempt, fields } = await codeFor(method)
  const other = await registerAgent(url, method)
  const code_verifier = attempt.verifier
  const secrets = [
    {},
    { client_secret: '' },
    { client_secret: String(other.client['client_secret']) },
  ]
  for (const secret of secrets) {
    assert.equal((await tokenRequest({ ...fields, ...secret, code_verifier })).status, 401)
  }
})

test('redirect_uri tricks: user info, backslash, encoding and case stay on our page', async () => {
  const agent = await registerAgent(url)
  for (const redirect_uri of [
    'http://127.0.0.1:9@evil.example/callback',
    'http://127.0.0.1:9\\@evil.example/callback',
    'http://127.0.0.1:9/callback%2f..%2fevil',
    'http://127.0.0.1:9/CALLBACK',
    'http://127.0.0.1:9/callback/',
    'http://127.0.0.1:9/callback#evil',
    'http://127.0.0.1:9/callback\t',
    'http://[::1]:9/callback',
    'http://2130706433:9/callback',
    '//evil.example/callback',
  ]) {
    const { url: address } = await startAuthorization(agent, { params: { redirect_uri } })
    const shown = await new Browser(url).open(address)
    assert(shown.url.startsWith(`${url}/oauth/authorize`), shown.url)
    assert.equal(shown.status, 400, redirect_uri)
  }
})

test('parameter pollution: a repeated parameter is refused', async () => {
  const agent = await registerAgent(url)
  for (const [name, value] of [
    ['redirect_uri', 'https://evil.example/callback'],
    ['client_id', 'another'],
    ['scope', 'withdrawal:create'],
    ['code_challenge_method', 'plain'],
  ] as const) {
    const { url: address } = await startAuthorization(agent, { scope: 'account:read' })
    const shown = await new Browser(url).open(`${address}&${name}=${encodeURIComponent(value)}`)
    assert(!shown.url.startsWith('https://evil.example'), name)
    assert.doesNotMatch(shown.text, /name="password"|Allow Test agent/, name)
  }
})

test('server-side requests: URLs in client metadata are never fetched', async () => {
  const receiver = await startReceiver()
  const uri = receiver.url
  const agent = await registerAgent(url, {
    logo_uri: uri,
    client_uri: uri,
    jwks_uri: uri,
    sector_identifier_uri: uri,
    policy_uri: uri,
  })
  const params = { request_uri: uri, client_metadata: uri }
  await new Browser(url).open((await startAuthorization(agent, { params })).url)
  await new Browser(url).open((await startAuthorization(agent)).url)
  assert.equal(receiver.received.length, 0)
})

test('webhooks cannot reach an internal address, in any notation', async () => {
  const { bearer } = await openAccount(url)
  const { id } = await subscribe(url, { bearer }, { url: 'https://shop.example/hook' }).catch(() =>
    subscribe(url, { bearer }, { url: 'http://127.0.0.1:3999/hook' }),
  )
  for (const address of [
    'http://169.254.169.254/latest/meta-data',
    'https://169.254.169.254/',
    'https://[::ffff:169.254.169.254]/',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://10.0.0.1/',
    'https://192.168.1.1/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://0.0.0.0/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'https://user:secret@shop.example/',
  ]) {
    const body = { url: address, events: ['*'] }
    const made = await send(url, 'POST', '/v1/webhooks', { bearer, body })
    assert.equal(made.status, 422, `${address}: ${made.text}`)
    const moved = { url: address }
    const patched = await send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer, body: moved })
    assert.equal(patched.status, 422, `${address}: ${patched.text}`)
  }
})

test('a two-factor code works only once across all operations', async () => {
  const { bearer, email } = await openAccount(url)
  const { secret, recovery_codes } = await turnOnTwoFactor(url, bearer, clock)
  const totp_code = codeOf(secret, clock, 1)
  const signIn = (code: string) =>
    send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD, totp_code: code } })
  const mint = (code: string) =>
    send(url, 'POST', '/v1/api_keys', { bearer, body: { totp_code: code } })
  assert.equal((await signIn(totp_code)).status, 200)
  assertRefused(await mint(totp_code), 401, 'totp_invalid')
  const recovery = String(recovery_codes[0])
  assert.equal((await mint(recovery)).status, 201)
  assertRefused(await signIn(recovery), 401, 'totp_invalid')
  assertRefused(await signIn(recovery.toUpperCase().replace('-', '')), 401, 'totp_invalid')
})

test('a token without the scope cannot replay a response under the owner’s Idempotency-Key', async () => {
  const holder = await openHolder(service, 50)
  const body = { type: 'virtual' }
  const call = (bearer: string) => send(url, 'POST', '/v1/cards', { bearer, body, key: 'shared' })
  assert.equal((await call(holder.key)).status, 201)
  const agent = await registerAgent(url)
  const asking = { scope: 'card:read', scopes: ['card:read'], resource: `${url}/v1` }
  const { access_token } = await authorize(agent, holder, asking)
  assertRefused(await call(access_token), 403, 'insufficient_scope')
  const stranger = await openHolder(service, 50)
  const theirs = await call(stranger.key)
  assert.equal(theirs.headers.get('idempotent-replayed'), null)
})

test('a refresh token cannot get a token for a resource that was not granted', async () => {
  const agent = await registerAgent(url)
  const tokens = await authorize(agent, person)
  for (const resource of [`${url}/v1`, 'https://elsewhere.example', `${url}/operator/v1`]) {
    const refused = refresh(agent, tokens.refresh_token, { resource })
    await assert.rejects(refused, { error: 'invalid_target' }, resource)
  }
})

test('a client cannot manage the registration or tokens of another client', async () => {
  const [mine, theirs] = [await registerAgent(url), await registerAgent(url)]
  const authorization = `Bearer ${mine.client['registration_access_token']}`
  const address = String(theirs.client['registration_client_uri'])
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(address, { method, headers: { authorization } })
    assert.equal(response.status, 401, method)
  }
  const { access_token } = await authorize(theirs, person)
  const secret = String(mine.client['client_secret'])
  const basic = Buffer.from(`${mine.client.client_id}:${secret}`).toString('base64')
  await fetch(`${url}/oauth/revoke`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ token: access_token }),
  })
  assert.equal((await rpc(url, 'ping', {}, { bearer: access_token })).status, 200)
})

test('every operation returns 404 for the objects of another account', async () => {
  const victim = await openHolder(service, 200)
  const card = await issueCard(url, victim.key)
  const post = async (path: string, body: object) =>
    String((await send(url, 'POST', path, { bearer: victim.key, body })).body['id'])
  const ids: Record<string, string> = {
    cards: card.id,
    topups: await post('/v1/topups', { amount_usd: 10 }),
    webhooks: await post('/v1/webhooks', { url: 'http://127.0.0.1:3999/x', events: ['*'] }),
    api_keys: (await createKey(url, victim.bearer)).id,
    withdrawals: await post('/v1/withdrawals', {
      amount_usd: 20,
      address: 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA',
    }),
  }
  const thief = await openHolder(service, 200)
  const inputs: Record<string, object> = {
    load_card: { amount_usd: 1 },
    set_card_limits: { daily_usd: 1 },
    set_mcc_rules: { deny: ['5411'] },
    set_card_geo: { deny: ['KP'] },
    update_webhook: { url: 'http://127.0.0.1:3999/thief' },
  }
  let tried = 0
  for (const { name, method, path } of Object.values(operations)) {
    const id = ids[path.split('/')[1] ?? '']
    if (id === undefined || pathNames(path).length !== 1) continue
    const at = `/v1${path.replace(/\{\w+\}/, id)}`
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: inputs[name] ?? {} }
    for (const bearer of [thief.key, ...(name === 'reveal_pan' ? [] : [thief.bearer])]) {
      const reply = await send(url, method, at, { bearer, ...body })
      assert.equal(reply.status, 404, `${name}: ${reply.text}`)
    }
    tried += 1
  }
  assert(tried >= 15, `${tried} operations`)
})
