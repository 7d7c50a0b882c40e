import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOfLinkToken } from '#domain/credentials/link_token.ts'
import { cellOfId } from '#kernel/id.ts'
import {
  authorize,
  openConsent,
  refresh,
  registerAgent,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard } from '#test/support/cards.ts'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
import { send } from '#test/support/http.ts'
import { callTool } from '#test/support/mcp.ts'
import { PASSWORD } from '#test/support/people.ts'

const service = await startTestCells([1, 7])
const { url, cells } = service
const holders = [
  await openHolderInCell(service, 100),
  await openHolderInCell(service, 100),
  await openHolderInCell(service, 100),
]
const outside = holders.filter(({ runtime }) => runtime !== cells.home)

test('an app connects to an account of any cell, and its token names the cell', async () => {
  const agent = await registerAgent(url)
  for (const person of holders) {
    const { account_id, runtime } = person
    const tokens = await authorize(agent, person)
    assert.equal(cellOfLinkToken(tokens.access_token), runtime.settings.cell)
    const account = await callTool(url, 'get_account', {}, tokens.access_token)
    assert.equal(account.structuredContent['id'], account_id)
    const renewed = await refresh(agent, tokens.refresh_token)
    assert.equal(cellOfLinkToken(renewed.refresh_token), runtime.settings.cell)
    const again = await callTool(url, 'get_account', {}, renewed.access_token)
    assert.equal(again.structuredContent['id'], account_id)
    for (const each of cells.all) {
      const grants = await each.db.rows<{ id: string }>(
        'select id from oauth_grants where account_id = $1',
        [account_id],
      )
      assert.equal(grants.length, each === runtime ? 1 : 0)
      for (const { id } of grants) assert.equal(cellOfId(id), runtime.settings.cell)
    }
  }
})

test('cards and scopes of a grant apply in every cell, and the owner can end it', async () => {
  for (const person of holders) {
    const agent = await registerAgent(url)
    const [first, second] = [await issueCard(url, person.key), await issueCard(url, person.key)]
    const resource = `${url}/v1`
    const { access_token: bearer } = await authorize(agent, person, {
      ...{ resource, scope: 'card:read', cards: [first.id] },
    })
    assert.equal((await send(url, 'GET', `/v1/cards/${first.id}`, { bearer })).status, 200)
    const other = await send(url, 'GET', `/v1/cards/${second.id}`, { bearer })
    assertRefused(other, 404, 'not_found')
    assertRefused(await send(url, 'GET', '/v1/balance', { bearer }), 403, 'insufficient_scope')
    const listed = await send(url, 'GET', '/oauth/grants', { bearer: person.bearer })
    const granted = listed.body['data'] as { id: string; client_id: string; status: string }[]
    const grant = granted.find(({ client_id }) => client_id === agent.client.client_id)
    const ended = await send(url, 'DELETE', `/oauth/grants/${grant?.id}`, { bearer: person.bearer })
    assert.equal(ended.status, 204, ended.text)
    const late = await send(url, 'GET', `/v1/cards/${first.id}`, { bearer })
    assertRefused(late, 401, 'token_revoked')
  }
})

test('a changed password ends the browser session of an account in another cell', async () => {
  const agent = await registerAgent(url)
  for (const person of outside) {
    const browser = new Browser(url)
    await authorize(agent, person, { browser })
    const signed_in = await browser.open((await startAuthorization(agent)).url)
    assert.match(signed_in.text, /name="scope"/, 'the browser is still signed in')
    const body = { current_password: PASSWORD, password: `${PASSWORD} 2` }
    const changed = await send(url, 'PATCH', '/v1/accounts/me', { bearer: person.bearer, body })
    assert.equal(changed.status, 200, changed.text)
    const page = await browser.open((await startAuthorization(agent)).url)
    assert.match(page.text, /name="password"/, 'it has to sign in again')
    const refused = await browser.submit(signed_in, 'allow', { scope: ['card:read'] })
    assert.notEqual(new URL(refused.url).searchParams.has('code'), true)
  }
})

test('a browser can switch between accounts of different cells', async () => {
  const agent = await registerAgent(url)
  const [first, second] = [await openHolderInCell(service), await openHolderInCell(service)]
  assert.notEqual(first.runtime, second.runtime)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent)
  const page = await openConsent(browser, attempt.url, first)
  assert.ok(page.text.includes(first.email))
  const sign_in = await browser.submit(page, 'switch')
  const other = await browser.submit(sign_in, 'sign_in', {
    email: second.email,
    password: PASSWORD,
  })
  assert.ok(other.text.includes(second.email), other.text)
})

test('a client with grants in another cell only is not taken for an unused one', async () => {
  const agent = await registerAgent(url)
  const unused = await registerAgent(url)
  const person = await openHolderInCell(service)
  const elsewhere = person.runtime === cells.home ? await openHolderInCell(service) : person
  assert.notEqual(elsewhere.runtime, cells.home)
  const tokens = await authorize(agent, elsewhere)
  await service.sandbox_host.advanceClock(2 * 86_400)
  await service.tasks.run(['sweep_oauth'])
  const left = await cells.home.db.rows<{ id: string }>(
    `select id from oauth_payloads where model = 'Client' and id = any($1)`,
    [[agent.client.client_id, unused.client.client_id]],
  )
  assert.deepEqual(
    left.map(({ id }) => id),
    [agent.client.client_id],
  )
  await refresh(agent, tokens.refresh_token)
})
