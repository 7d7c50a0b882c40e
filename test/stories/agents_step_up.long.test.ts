import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '#contract/scopes.ts'
import {
  authorize,
  openConsent,
  refresh,
  registerAgent,
  startAgentService,
} from '#test/support/agent.ts'
import { Browser, boxesIn, type LoadedPage } from '#test/support/browser.ts'
import { advance } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { callTool, initialize, rpc } from '#test/support/mcp.ts'
import { PASSWORD, type Person } from '#test/support/people.ts'

const service = await startAgentService()
const { url } = service
const able = { elicitation: { form: {}, url: {} } }
const READS = ['card:read', 'system:read']

type StepUpAgent = { token: string; load(): Promise<Reply>; headers: Record<string, string> }

async function connect(token: string, card_id: string): Promise<StepUpAgent> {
  const headers = await initialize(url, token, '2025-11-25', able)
  const call = { name: 'load_card', arguments: { id: card_id, amount_usd: 60 } }
  return { token, headers, load: () => rpc(url, 'tools/call', call, { bearer: token, headers }) }
}

async function openAgent(request: Parameters<typeof authorize>[2] = {}) {
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key, { name: 'Groceries' })
  const agent = await registerAgent(url, { client_name: 'Shopper' })
  const scope = { scope: READS.join(' '), scopes: READS }
  const tokens = await authorize(agent, holder, { ...scope, ...request })
  const connected = await connect(tokens.access_token, card.id)
  return { holder, card, agent, tokens, ...connected }
}

type Elicitation = { mode: string; elicitationId: string; url: string; message: string }

function elicitationIn({ status, body, text }: Reply): Elicitation {
  assert.equal(status, 200, text)
  assert.equal(body['error']?.code, -32_042, text)
  const { elicitations, error } = body['error'].data
  assert.equal(error, 'insufficient_scope')
  assert.equal(elicitations.length, 1)
  assert.equal(elicitations[0].mode, 'url')
  return elicitations[0]
}

async function openPage(reply: Reply, person: Person, browser = new Browser(url)) {
  return { browser, page: await openConsent(browser, elicitationIn(reply).url, person) }
}

async function allow(reply: Reply, person: Person, fields: Record<string, string> = {}) {
  const { browser, page } = await openPage(reply, person)
  const scope = Object.keys(boxesIn(page.text, 'scope'))
  return browser.submit(page, 'allow', { scope, ...fields })
}

async function toolNames(bearer: string): Promise<string[]> {
  const { body } = await rpc(url, 'tools/list', {}, { bearer })
  return body['result'].tools.map(({ name }: { name: string }) => name)
}

test('a tool without its scope gives the consent page, and the same token then works', async () => {
  const { holder, load, token, card } = await openAgent()
  const refused = await load()
  const { message, elicitationId } = elicitationIn(refused)
  assert.match(message, /^This app needs your permission: Load, unload, freeze/)
  assert.match(elicitationId, /^req_/)
  const { browser, page } = await openPage(refused, holder)
  assert.match(page.text, /Allow Shopper to do more\?/)
  assert.deepEqual(boxesIn(page.text, 'scope'), { 'card:control': true })
  assert.match(page.text, /The app keeps its cards: all current and future cards/)
  const done = await browser.submit(page, 'allow', { scope: ['card:control'] })
  assert.equal(done.status, 200, done.text)
  assert.match(done.text, /Shopper can now do this/)
  const loaded = await load()
  assert.equal(loaded.body['result'].structuredContent.card.balance_usd, 60, loaded.text)
  const frozen = await callTool(url, 'freeze_card', { id: card.id }, token)
  assert.equal(frozen.isError, undefined)
})

test('tokens refreshed after the consent have the scope, and the response says so', async () => {
  const { holder, load, agent, tokens, card } = await openAgent()
  await allow(await load(), holder)
  const next = await refresh(agent, tokens.refresh_token)
  assert.deepEqual(next.scope.split(' ').sort(), [...READS, 'card:control'].sort())
  const again = await connect(next.access_token, card.id)
  assert.equal((await again.load()).body['error'], undefined)
})

test('a token that the client narrowed on purpose does not gain the scope', async () => {
  const { holder, load, agent, tokens } = await openAgent()
  const narrow = await refresh(agent, tokens.refresh_token, { scope: 'card:read' })
  await allow(await load(), holder)
  const names = await toolNames(narrow.access_token)
  assert.ok(names.includes('list_cards'))
  assert.ok(!names.includes('load_card'))
})

test('a token for REST and other grants gain nothing', async () => {
  const { holder, load, agent } = await openAgent()
  const scope = { scope: READS.join(' '), scopes: READS }
  const rest = await authorize(agent, holder, { ...scope, resource: `${url}/v1` })
  const other = await registerAgent(url)
  const others = await authorize(other, holder, scope)
  await allow(await load(), holder)
  const { id } = await issueCard(url, holder.key)
  const body = { amount_usd: 1 }
  const refused = await send(url, 'POST', `/v1/cards/${id}/load`, {
    bearer: rest.access_token,
    body,
  })
  assert.equal(refused.body['error'], 'insufficient_scope')
  elicitationIn(await (await connect(others.access_token, id)).load())
})

test('a token for tools and REST has the scope at both', async () => {
  const { holder, card, load, token, tokens, agent } = await openAgent({ resource: null })
  await allow(await load(), holder)
  assert.equal((await load()).body['error'], undefined)
  const renewed = await refresh(agent, tokens.refresh_token)
  for (const bearer of [token, renewed.access_token]) {
    const body = { amount_usd: 1 }
    const loaded = await send(url, 'POST', `/v1/cards/${card.id}/load`, { bearer, body })
    assert.equal(loaded.status, 200, loaded.text)
  }
})

test('the owner can set a budget with the new scope', async () => {
  const { holder, load } = await openAgent()
  const budget = { budget_amount: '20', budget_period: 'day' }
  await allow(await load(), holder, budget)
  const refused = await load()
  assert.equal(refused.body['error'].data.error, 'approval_required', refused.text)
})

test('a denied request changes nothing, and the call is refused again', async () => {
  const { holder, load } = await openAgent()
  const { browser, page } = await openPage(await load(), holder)
  const denied = await browser.submit(page, 'deny')
  assert.match(denied.text, /Access not changed/)
  elicitationIn(await load())
  const unchecked = await openPage(await load(), holder)
  const none = await unchecked.browser.submit(unchecked.page, 'allow', { scope: [] })
  assert.match(none.text, /Access not changed/)
  const cancelled = new Browser(url)
  const sign_in = await cancelled.open(elicitationIn(await load()).url)
  assert.match((await cancelled.submit(sign_in, 'deny')).text, /Access not changed/)
  elicitationIn(await load())
})

test('nobody but the owner of the grant can add scopes to it', async () => {
  const { load } = await openAgent()
  const stranger = await openHolder(service, 10)
  const { browser, page } = await openPage(await load(), stranger)
  assert.equal(page.status, 403)
  assert.match(page.text, /This request belongs to another account/)
  const forced = await browser.submit(page, 'allow', { scope: ['card:control'] })
  assert.equal(forced.status, 403)
  elicitationIn(await load())
})

test('only the missing scopes are granted, whatever the form sends', async () => {
  const { holder, load, token } = await openAgent()
  const { browser, page } = await openPage(await load(), holder)
  await browser.submit(page, 'allow', { scope: ['card:control', 'withdrawal:create'] })
  const names = await toolNames(token)
  assert.ok(names.includes('load_card'))
  assert.ok(!names.includes('withdraw'))
})

test('card numbers and withdrawals are opt-in, and need a recent password', async () => {
  const { holder, card, token, headers } = await openAgent()
  const call = { name: 'reveal_pan', arguments: { id: card.id, reveal_nonce: 'once' } }
  const reveal = () => rpc(url, 'tools/call', call, { bearer: token, headers })
  const { browser, page } = await openPage(await reveal(), holder)
  assert.deepEqual(boxesIn(page.text, 'scope'), { 'card:reveal_pan': false })
  await advance(url, holder.bearer, 6 * 60)
  const fields = { scope: ['card:reveal_pan'] }
  const asked = await browser.submit(page, 'allow', fields)
  assert.match(asked.text, /Confirm your password/)
  elicitationIn(await reveal())
  const done = await browser.submit(asked, 'confirm', { ...fields, password: PASSWORD })
  assert.match(done.text, /Shopper can now do this/)
  assert.equal((await reveal()).body['error'], undefined)
})

test('issuing a card with a load asks for both scopes that are missing', async () => {
  const { holder, token, headers } = await openAgent()
  const call = { name: 'issue_card', arguments: { type: 'virtual', load_usd: 5 } }
  const issue = (_meta = {}) =>
    rpc(url, 'tools/call', { ...call, _meta }, { bearer: token, headers })
  const { page } = await openPage(await issue(), holder)
  assert.deepEqual(boxesIn(page.text, 'scope'), { 'card:issue': true, 'card:control': true })
  const { browser, page: first } = await openPage(await issue(), holder)
  await browser.submit(first, 'allow', { scope: ['card:issue'] })
  const streamed = await issue({ progressToken: 'p' })
  assert.match(streamed.text, /"code":-32042/)
  assert.match(streamed.text, /This app needs your permission: Load/)
})

test('a grant limited to cards keeps its cards, and is not offered what it cannot have', async () => {
  const { holder, card, agent } = await openAgent()
  const details = [{ type: 'card_access', identifier: card.id, actions: ['read', 'control'] }]
  const limited = await authorize(agent, holder, {
    scope: 'card:read',
    scopes: ['card:read'],
    authorization_details: details,
  })
  const { load, headers, token } = await connect(limited.access_token, card.id)
  const { browser, page } = await openPage(await load(), holder)
  assert.match(page.text, new RegExp(`only these cards: Groceries ·· ${card.last4}`))
  await browser.submit(page, 'allow', { scope: ['card:control'] })
  assert.equal((await load()).body['error'], undefined)
  const other = await issueCard(url, holder.key)
  const call = (name: string, given: object) =>
    rpc(url, 'tools/call', { name, arguments: given }, { bearer: token, headers })
  const hidden = await call('load_card', { id: other.id, amount_usd: 1 })
  assert.equal(hidden.body['result'].structuredContent.error, 'not_found')
  for (const refused of [
    await call('issue_card', { type: 'virtual' }),
    await call('list_card_transactions', { id: card.id }),
  ]) {
    assert.equal(refused.status, 403, refused.text)
    assert.match(refused.headers.get('www-authenticate') ?? '', /insufficient_scope/)
  }
})

test('a client that does not declare URL elicitation gets a challenge as before', async () => {
  const { token, card } = await openAgent()
  const call = { name: 'load_card', arguments: { id: card.id, amount_usd: 1 } }
  for (const [version, capabilities] of [
    ['2025-11-25', {}],
    ['2025-11-25', { elicitation: { form: {} } }],
    ['2025-06-18', able],
  ] as const) {
    const headers = await initialize(url, token, version, capabilities)
    const refused = await rpc(url, 'tools/call', call, { bearer: token, headers })
    assert.equal(refused.status, 403, refused.text)
    const challenge = refused.headers.get('www-authenticate') ?? ''
    assert.match(challenge, /error="insufficient_scope", scope="[^"]*card:control/)
  }
})

test('a streamed call without the scope of a field gets a challenge too', async () => {
  const scopes = ['card:issue', 'card:read', 'webhook:write']
  const { token } = await openAgent({ scope: scopes.join(' '), scopes })
  const webhook = { url: 'https://shop.example/florin', events: ['three_ds.challenge'] }
  for (const [name, given] of [
    ['issue_card', { type: 'virtual', load_usd: 5 }],
    ['create_webhook', webhook],
  ] as const) {
    const call = { name, arguments: given, _meta: { progressToken: 'p' } }
    const refused = await rpc(url, 'tools/call', call, { bearer: token })
    assert.equal(refused.status, 403, refused.text)
    const challenge = refused.headers.get('www-authenticate') ?? ''
    assert.match(challenge, /error="insufficient_scope", scope="[^"]*card:control/)
  }
})

test('a link ends with the grant, after an hour, and if it is changed', async () => {
  const { holder, load } = await openAgent()
  const expired = (page: LoadedPage) => {
    assert.equal(page.status, 410, page.text)
    assert.match(page.text, /This link has expired/)
    assert.match(page.text, /<a href="\/">Go to your account<\/a>/)
  }
  const link = elicitationIn(await load()).url
  const browser = new Browser(url)
  expired(await browser.open(`${link.slice(0, -3)}AAA`))
  expired(await browser.open(`${url}/oauth/step_up`))
  const { browser: open, page } = await openPage(await load(), holder)
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  const [grant] = grants.body['data']
  await send(url, 'DELETE', `/oauth/grants/${grant.id}`, { bearer: holder.bearer })
  expired(await browser.open(link))
  const late = await open.submit(page, 'allow', { scope: ['card:control'] })
  assert.equal(late.status, 400)
  const next = await openAgent()
  const aging = elicitationIn(await next.load()).url
  await advance(url, next.holder.bearer, 61 * 60)
  expired(await browser.open(aging))
})

test('the audit log and an email tell the owner which scope was added', async () => {
  const { holder, load } = await openAgent()
  await allow(await load(), holder)
  const log = await send(url, 'GET', '/v1/audit_log?action=oauth.granted', {
    bearer: holder.bearer,
  })
  assert.equal(log.body['data'].length, 2, log.text)
  const inbox = await send(url, 'GET', '/sandbox/v1/inbox', { bearer: holder.bearer })
  const texts = inbox.body['data'].map(({ text }: { text: string }) => text)
  const added = `App: Shopper\nIt can now: ${scopes['card:control']}\nTime: `
  assert(texts.some((text: string) => text.includes(added)))
})
