import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Agent,
  allow,
  authorize,
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
const REMOTE = 'https://agent.example/callback'

const register = (uri: string) =>
  send(url, 'POST', '/oauth/register', { body: { redirect_uris: [uri] } })

test('an app scheme is accepted if it is a reversed domain or a plain name with a host', async () => {
  for (const uri of [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'vscode-insiders://publisher.extension/callback',
    'windsurf://codeium.windsurf/callback',
    'myapp://callback',
    'com.example.agent:/oauth/callback',
    'com.example.agent://callback',
    'dev.warp.warp-stable://auth',
  ]) {
    assert.equal((await register(uri)).status, 201, uri)
  }
})

test('schemes that the operating system or the browser handles are refused', async () => {
  for (const uri of [
    'intent://evil.example/#Intent;scheme=https;end',
    'intent://evil.example/path',
    'intent:evil',
    'INTENT://evil.example/path',
    'ms-msdt:/id',
    'ms-msdt://PCWDiagnostic',
    'ms-word://ofe/evil',
    'search-ms://query=x',
    'search-ms:query=x',
    'microsoft-edge://evil.example',
    'microsoft.windows.camera:x',
    'x-apple.systempreferences:x',
    'itms-services://evil.example/',
    'shortcuts://run-shortcut',
    'android-app://com.example/https/evil.example',
    'market://details',
    'chrome://settings',
    'chrome-extension://abc/page.html',
    'about://blank',
    'view-source://evil.example',
    'jar:https://evil.example/x.jar!/y',
    'sms://12345',
    'tel:12345',
    'facetime://evil',
    'ssh://evil.example/',
    'smb://evil.example/share',
    'ldap://evil.example/',
    'urn:ietf:wg:oauth:2.0:oob',
    'web+evil://x',
    'blob://evil',
    'wss://evil.example/',
    'a://b',
    'myapp:callback',
    'myapp:///callback',
    'vbscript://x',
  ]) {
    const { status, body } = await register(uri)
    assert.equal(status, 400, uri)
    assert.equal(body['error'], 'invalid_redirect_uri', uri)
  }
})

async function openAuthorization(
  agent: Agent,
  params: Record<string, string>,
  browser = new Browser(url),
) {
  return browser.open((await startAuthorization(agent, { params })).url)
}

test('errors are not redirected to a client that no account has approved (no open redirector)', async () => {
  const agent = await registerAgent(url, { redirect_uris: [REMOTE] })
  for (const params of [
    { prompt: 'none' },
    { prompt: 'none', response_mode: 'form_post' },
    { prompt: 'none', response_mode: 'fragment' },
    { prompt: 'nonsense' },
    { code_challenge_method: 'plain' },
    { response_type: 'token' },
    { resource: 'https://elsewhere.example' },
    { authorization_details: '[{"type":"nonsense"}]' },
    { request: 'x' },
  ]) {
    const page = await openAuthorization(agent, params)
    const detail = `${JSON.stringify(params)} ${page.status} ${page.url}`
    assert(page.url.startsWith(url), detail)
    assert.equal(page.status, 400, detail)
    assert(!page.text.includes('agent.example'), detail)
    assert.equal(page.headers.get('location'), null)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  }
})

test('prompt=none redirects its error only to an approved client at its approved redirect URI', async () => {
  const agent = await registerAgent(url, { redirect_uris: [REMOTE, 'https://other.example/cb'] })
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent)
  await allow(browser, await openConsent(browser, attempt.url, person))
  const redirected = await openAuthorization(agent, { prompt: 'none' }, browser)
  assert(redirected.url.startsWith(`${REMOTE}?`), redirected.url)
  assert.equal(new URL(redirected.url).searchParams.get('error'), 'interaction_required')

  const moved = { prompt: 'none', redirect_uri: 'https://other.example/cb' }
  assert.equal((await openAuthorization(agent, moved, browser)).status, 400, 'another address')
  assert.equal((await openAuthorization(agent, { prompt: 'none' })).status, 400, 'another browser')
  const stranger = new Browser(url)
  const loopback = await registerAgent(url)
  await authorize(loopback, await openAccount(url), { browser: stranger })
  assert.equal(
    (await openAuthorization(agent, { prompt: 'none' }, stranger)).status,
    400,
    'another account',
  )
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: person.bearer })
  for (const { id } of grants.body['data']) {
    await send(url, 'DELETE', `/oauth/grants/${id}`, { bearer: person.bearer })
  }
  assert.equal(
    (await openAuthorization(agent, { prompt: 'none' }, browser)).status,
    400,
    'a revoked grant',
  )
})

test('denying on the page redirects to the client, because the page has shown its address', async () => {
  const agent = await registerAgent(url, { redirect_uris: [REMOTE] })
  const browser = new Browser(url)
  const page = await browser.open((await startAuthorization(agent)).url)
  const denied = await browser.submit(page, 'deny')
  assert.equal(new URL(denied.url).searchParams.get('error'), 'access_denied')
  assert(denied.url.startsWith(REMOTE))
})

test('a native client at a loopback address receives the error of an invalid request', async () => {
  const agent = await registerAgent(url)
  const redirected = await openAuthorization(agent, { code_challenge_method: 'plain' })
  assert.equal(new URL(redirected.url).searchParams.get('error'), 'invalid_request')
  assert.equal((await openAuthorization(agent, { prompt: 'none' })).status, 400)
})
