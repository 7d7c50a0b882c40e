import assert from 'node:assert/strict'
import { test } from 'node:test'
import { default_scopes, type Scope } from '#contract/scopes.ts'
import type { Transaction } from '#contract/transactions.ts'
import {
  type Agent,
  authorize,
  refresh,
  registerAgent,
  startAgentService,
  type Tokens,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { auditLog } from '#test/support/calls.ts'
import { openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { callTool, rpc } from '#test/support/mcp.ts'
import { callSandbox } from '#test/support/spending.ts'

const service = await startAgentService()
const { url } = service
const holder = await openHolder(service, 100)
const browser = new Browser(url)

/** The scopes that a refused call requires. */
async function scopesNeeded(name: string, input: object, bearer: string): Promise<string> {
  const params = { name, arguments: input }
  const reply = await rpc(url, 'tools/call', params, { bearer })
  assert.equal(reply.status, 403, reply.text)
  const header = reply.headers.get('www-authenticate') ?? ''
  return /scope="([^"]*)"/.exec(header)?.[1] ?? ''
}

const steppedUp = (agent: Agent, scope: string, more: object = {}): Promise<Tokens> =>
  authorize(agent, holder, { browser, scope, ...more })

/** The merchant verifies the card's CVV, and the daily limit of $20 applies. */
async function payAtTheShop(bearer: string, card_id: string, cvv: string): Promise<void> {
  const buy = async (body: { amount: number; cvv: string }) => {
    const reply = await callSandbox(url, bearer, `cards/${card_id}/authorize`, body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body as Transaction
  }
  const wrong = await buy({ amount: 5, cvv: cvv === '000' ? '111' : '000' })
  assert.equal(wrong.decline_code, 'cvv_mismatch')
  const paid = await buy({ amount: 15, cvv })
  assert.deepEqual([paid.type, paid.amount_usd], ['authorization', 15])
  assert.equal((await buy({ amount: 6, cvv })).decline_code, 'limit_daily')
  const rest = await send(url, 'GET', `/v1/transactions/${paid.id}`, { bearer })
  assert.equal(rest.body['status'], 'pending', rest.text)
}

test('an agent gains scopes by consent, works with them, and loses access when its owner revokes it', async () => {
  const agent = await registerAgent(url, { client_name: 'Shopping agent' })
  const reading = await steppedUp(agent, default_scopes.join(' '))

  const wish = { type: 'virtual', load_usd: 25, limits: { daily_usd: 20 }, idempotency_key: 'one' }
  const needed = await scopesNeeded('issue_card', wish, reading.access_token)
  assert(needed.includes('card:issue') && needed.includes('card:control'), needed)
  const issuing = await steppedUp(agent, needed)
  const issued = await callTool(url, 'issue_card', wish, issuing.access_token)
  assert.equal(issued.isError, undefined, issued.content[0]?.text)
  const card = issued.structuredContent
  assert.equal((card['limits'] as { daily_usd: number }).daily_usd, 20)
  const again = await callTool(url, 'issue_card', wish, issuing.access_token)
  assert.equal(again.structuredContent['id'], card['id'])

  const wanted = await scopesNeeded('reveal_pan', { id: card['id'] }, issuing.access_token)
  assert(wanted.includes('card:reveal_pan'))
  const overlooked = await steppedUp(agent, wanted)
  await scopesNeeded('reveal_pan', { id: card['id'] }, overlooked.access_token)

  const scopes: Scope[] = ['card:read', 'transaction:read', 'card:reveal_pan']
  const actions = ['read', 'transactions', 'reveal_pan']
  const held_to = [{ type: 'card_access', identifier: card['id'], actions }]
  const revealing = await steppedUp(agent, scopes.join(' '), {
    scopes,
    authorization_details: held_to,
  })
  const revealed = await callTool(url, 'reveal_pan', { id: card['id'] }, revealing.access_token)
  const pan = String(revealed.structuredContent['pan'])
  assert.match(pan, /^\d{16}$/)
  const text = revealed.content[0]?.text ?? ''
  assert.equal(text.includes(pan), false)
  assert.equal(text.includes(`${pan.slice(0, 6)}******${pan.slice(-4)}`), true)
  assert.match(text, /"cvv":"\*+"/)

  const shopping = await steppedUp(agent, 'card:read transaction:read', {
    resource: `${url}/v1`,
    authorization_details: held_to,
  })
  const { cvv } = revealed.structuredContent
  await payAtTheShop(shopping.access_token, String(card['id']), String(cvv))

  const { body } = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  const grants = body['data'] as unknown as { id: string; card_ids: string[] | null }[]
  assert.deepEqual(
    grants.map(({ card_ids }) => card_ids),
    [[card['id']], null],
  )
  for (const { id } of grants) {
    await send(url, 'DELETE', `/oauth/grants/${id}`, { bearer: holder.bearer })
  }
  for (const { access_token: bearer } of [reading, issuing, revealing]) {
    const next = await rpc(url, 'tools/call', { name: 'get_card', arguments: card }, { bearer })
    assert.deepEqual([next.status, next.body['error']], [401, 'token_revoked'])
  }
  const refused = await callSandbox(url, shopping.access_token, `cards/${card['id']}/authorize`, {})
  assert.equal(refused.status, 401, refused.text)
  await assert.rejects(refresh(agent, shopping.refresh_token), { error: 'invalid_grant' })
  const entries = await auditLog(url, holder.bearer)
  const by_agent = entries.filter(({ actor }) => actor.type === 'oauth_client')
  assert(by_agent.some(({ operation }) => operation === 'issue_card'))
  assert(by_agent.some(({ action }) => action === 'card.pan_revealed'))
  const count = (wanted: string) => entries.filter(({ action }) => action === wanted).length
  assert.deepEqual([count('oauth.client_registered'), count('oauth.revoked')], [1, grants.length])
})
