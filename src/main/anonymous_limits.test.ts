import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  openConsent,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'

const { url } = await startAgentService()
const person = await openAccount(url)
const { bearer } = person

type ResponseHead = Pick<Response, 'status' | 'headers'>

function assertComplete({ status, headers }: ResponseHead, name: string): void {
  assert(status < 400, `${name}: ${status}`)
  assert.match(headers.get('request-id') ?? '', /^req_[0-9a-z]{26}$/, name)
  assert(headers.get('ratelimit-policy'), name)
  assert(headers.get('ratelimit'), name)
}

test('responses outside the API have a request ID and rate limits too', async () => {
  const paths = ['/', '/docs', '/healthz', '/metrics', '/openapi.json', '/openapi.yaml']
  const names = ['mcp/server-card.json', 'oauth-authorization-server', 'oauth-protected-resource']
  for (const path of [...paths, ...names.map((name) => `/.well-known/${name}`)]) {
    assertComplete(await fetch(url + path), path)
  }
  assertComplete(await send(url, 'GET', '/oauth/grants', { bearer }), 'grants')
})

test('so do the preflights of browsers', async () => {
  for (const path of ['/mcp', '/oauth/register', '/oauth/token']) {
    const headers = { origin: url, 'access-control-request-method': 'POST' }
    assertComplete(await fetch(url + path, { method: 'OPTIONS', headers }), path)
  }
})

test('so do the authorization server and its pages', async () => {
  const agent = await registerAgent(url, { token_endpoint_auth_method: 'none' })
  const attempt = await startAuthorization(agent)
  const redirect = await fetch(attempt.url, { redirect: 'manual' })
  assertComplete(redirect, 'authorize')
  const cookies = redirect.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
  const page = new URL(redirect.headers.get('location') ?? '', url)
  assertComplete(await fetch(page, { headers: { cookie: cookies.join('; ') } }), 'sign-in page')
  const { client_id } = agent.client
  const body = new URLSearchParams({ client_id, token: 'x'.repeat(43) })
  assertComplete(await fetch(`${url}/oauth/revoke`, { method: 'POST', body }), 'revoke')
})

test('a redirect after a step of the consent has a request ID and rate limits', async () => {
  const agent = await registerAgent(url)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent)
  const page = await openConsent(browser, attempt.url, person)
  assertComplete(await browser.submitOnly(page, 'deny'), 'deny')
})

test('an error has the same request ID in its header and its body', async () => {
  const { status, headers, body } = await send(url, 'POST', '/three_ds/chg_1/token', { body: {} })
  assert.equal(status, 400)
  assert.equal(headers.get('request-id'), body['request_id'])
})
