import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { registerAgent, startAgentService, startAuthorization } from '#test/support/agent.ts'
import { assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'

const { url } = await startAgentService()

const form = (path: string, text: string, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: text,
  })

test('a null character anywhere in a request returns 400, not 500', async () => {
  const { client } = await registerAgent(url, { token_endpoint_auth_method: 'none' })
  const known = `client_id=${client.client_id}&response_type=code`
  for (const query of ['client_id=%00', `${known}&state=a%00b`, `${known}&a%00b=1`]) {
    const reply = await send(url, 'GET', `/oauth/authorize?${query}`, {})
    assertRefused(reply, 400, 'invalid_request')
  }
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    const reply = await form(path, 'client_id=%00&token=x&grant_type=authorization_code&code=x')
    assert.equal(reply.status, 400, path)
    const basic = Buffer.from('a%00b:secret').toString('base64')
    const named = await form(path, 'token=x&grant_type=refresh_token&refresh_token=x', {
      authorization: `Basic ${basic}`,
    })
    assert.equal(named.status, 400, path)
  }
})

test('a request for two budgets is refused before the owner signs in', async () => {
  const agent = await registerAgent(url)
  const budget = (amount_usd: number) => ({ type: 'spend_budget', amount_usd, period: 'day' })
  const authorization_details = [budget(20), budget(30)]
  const attempt = await startAuthorization(agent, { authorization_details })
  const { headers } = await fetch(attempt.url, { redirect: 'manual' })
  const { searchParams } = new URL(headers.get('location') ?? '', url)
  assert.equal(searchParams.get('error'), 'invalid_authorization_details')
  assert.equal(searchParams.get('error_description'), 'only one spend_budget is allowed')
})

test('prompts of OpenID Connect that mean nothing here are ignored', async () => {
  const agent = await registerAgent(url)
  for (const prompt of ['select_account', 'create', 'login select_account', '']) {
    const attempt = await startAuthorization(agent, { params: { prompt } })
    const { headers } = await fetch(attempt.url, { redirect: 'manual' })
    assert.match(headers.get('location') ?? '', /\/oauth\/interaction\//, prompt)
  }
})

test('client names are cleaned, invalid client URLs dropped, and invalid redirect URIs refused', async () => {
  const register = (body: object) => send(url, 'POST', '/oauth/register', { body })
  for (const odd of ['\u0000', '\ud800', '\u0007', '\u202e']) {
    const redirect = await register({ redirect_uris: [`https://app.example/${odd}`] })
    assert.equal(redirect.status, 400)
    assert.equal(redirect.body['error'], 'invalid_redirect_uri')
    const named = await register({
      redirect_uris: ['https://app.example/callback'],
      client_name: `An app${odd}`,
      client_uri: `https://app.example/${odd}`,
      logo_uri: `https://app.example/${odd}`,
    })
    assert.equal(named.status, 201, named.text)
    assert.equal(named.body['client_name'], 'An app')
    assert.equal(named.body['client_uri'], undefined)
  }
  const long = await register({
    redirect_uris: ['https://app.example/callback'],
    client_name: `${'a'.repeat(99)}😀😀`,
  })
  assert.equal(long.status, 201, long.text)
  assert.equal(long.body['client_name'], `${'a'.repeat(99)}😀`)
})

test('60 KB of resources, parameters or slashes are refused within a second; the maximum is 5 resources', async () => {
  const resources = Array.from({ length: 4_000 }, (_, at) => `resource=x${at}`).join('&')
  const parameters = Array.from({ length: 6_500 }, (_, at) => `p${at}=1`).join('&')
  const worst = [resources, parameters, `resource=${'/'.repeat(60_000)}x`, 'a&'.repeat(30_000)]
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    for (const text of worst) {
      const started_at = performance.now()
      const reply = await form(path, text)
      assert.equal(reply.status, 400, path)
      assert.ok(performance.now() - started_at < 1_000, `${path} ${text.slice(0, 20)}`)
    }
  }
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => `resource=https%3A%2F%2Fr${at}.example`).join('&')
  const six = await send(url, 'GET', `/oauth/authorize?${many(6)}`, {})
  assertRefused(six, 400, 'invalid_request')
  assert.match(six.body['message'], /at most 5 resources/)
  const five = await send(url, 'GET', `/oauth/authorize?${many(5)}`, {})
  assert.doesNotMatch(five.text, /at most 5 resources/)
})

test('an app that is not registered gets a page that says what helps, in the mode of the service', async () => {
  const { client } = await registerAgent(url, { token_endpoint_auth_method: 'none' })
  const open = (query: string) =>
    send(url, 'GET', `/oauth/authorize?${query}`, { headers: { accept: 'text/html' } })
  const unknown = await open('client_id=nobody&response_type=code')
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /Florin doesn’t know it\. Remove Florin from the app/)
  assert.match(unknown.text, /<span>Sandbox<\/span>/)
  const elsewhere = await open(
    `client_id=${client.client_id}&response_type=code&redirect_uri=https://other.example/`,
  )
  assert.match(elsewhere.text, /asked to return to an address that it didn’t register/)
  const expired = await send(url, 'GET', '/oauth/interaction/nothing', {
    headers: { accept: 'text/html' },
  })
  assert.equal(expired.status, 400)
  assert.match(expired.text, /has expired or belongs to another browser/)
  assert.doesNotMatch(expired.text, /not given access|failed/, 'it may have been allowed')
  for (const { text, headers } of [unknown, elsewhere, expired]) {
    assert.match(text, /color-scheme:light dark;/)
    assert.match(text, /<a href="\/">Go to your account<\/a>/)
    const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    assert(headers.get('content-security-policy')?.includes(`'sha256-${hash}'`), 'it is styled')
  }
})
