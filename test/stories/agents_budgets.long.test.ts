import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AuthorizationRequest,
  exchange,
  openConsent,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { approvalIn, budgetOf, grantBudget, loadCard } from '#test/support/budgets.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'

const service = await startAgentService()
const { url } = service
const SCOPES = ['card:control', 'card:read', 'system:read']

/** The consent page, and the token after its form was sent with these fields. */
async function askForConsent(request: AuthorizationRequest = {}) {
  const holder = await openHolder(service, 500)
  const agent = await registerAgent(url, { client_name: 'Shopper' })
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, {
    resource: `${url}/v1`,
    scope: SCOPES.join(' '),
    ...request,
  })
  const page = await openConsent(browser, attempt.url, holder)
  const submit = (fields: Record<string, string>) =>
    browser.submit(page, 'allow', { scope: SCOPES, ...fields })
  const allow = async (fields: Record<string, string>) => {
    const { url: callback } = await submit(fields)
    return (await exchange(agent, attempt, new URL(callback))).access_token
  }
  return { holder, agent, page, submit, allow }
}

const budget = (amount_usd: number) => [{ type: 'spend_budget', amount_usd, period: 'month' }]

test('the consent page shows the budget that the app asks for, and the owner can lower it', async () => {
  const { page, allow } = await askForConsent({ authorization_details: budget(500) })
  assert.match(page.text, /name="budget_amount"[^>]*value="500"/)
  assert.match(page.text, /<option value="month" selected>/)
  const token = await allow({
    budget_amount: '$1,050.50',
    budget_period: 'day',
    budget_ask_above: '30',
  })
  const { resets_at: _, ...set } = await budgetOf(url, token)
  assert.deepEqual(set, { amount_usd: 1_050.5, period: 'day', used_usd: 0, ask_above_usd: 30 })
})

test('the owner can set a budget that the app did not ask for, or take one away', async () => {
  const without = await askForConsent()
  assert.match(without.page.text, /name="budget_amount"[^>]*value=""/)
  const limited = await without.allow({ budget_amount: '5', budget_period: 'total' })
  const { amount_usd, resets_at } = await budgetOf(url, limited)
  assert.deepEqual([amount_usd, resets_at], [5, null])

  const asked = await askForConsent({ authorization_details: budget(500) })
  assert.equal(await budgetOf(url, await asked.allow({ budget_amount: '' })), null)
})

test('the page shows a budget that is no amount again, with what was entered', async () => {
  const { submit } = await askForConsent()
  for (const budget_amount of ['-5', '1.234', 'fifty', '1e3']) {
    const again = await submit({ budget_amount, budget_period: 'day' })
    assert.equal(again.status, 400)
    assert.match(again.text, /Enter the budget in dollars/)
    assert.ok(again.text.includes(`value="${budget_amount}"`))
  }
})

test('an amount to ask above is refused without a budget, which would never ask', async () => {
  const { submit, allow } = await askForConsent()
  const again = await submit({ budget_amount: '', budget_ask_above: '100' })
  assert.equal(again.status, 400)
  assert.match(again.text, /Enter an amount, or clear “Ask me above”/)
  assert.match(again.text, /name="budget_ask_above"[^>]*value="100"/)
  assert.equal(await budgetOf(url, await allow({ budget_amount: '', budget_ask_above: '' })), null)
})

test('a read-only app is asked for no budget', async () => {
  const { page } = await askForConsent({ scope: 'card:read system:read' })
  assert.equal(page.text.includes('budget_amount'), false)
})

test('an app that can spend shows each budget that it asks for, also if it asks to read only', async () => {
  const holder = await openHolder(service, 500)
  const agent = await registerAgent(url, { client_name: 'Shopper' })
  const { token } = await grantBudget(url, holder, { amount_usd: 5 }, { agent })
  const attempt = await startAuthorization(agent, {
    resource: `${url}/v1`,
    scope: 'card:read',
    authorization_details: budget(50_000),
  })
  const browser = new Browser(url)
  const page = await openConsent(browser, attempt.url, holder)
  assert.match(page.text, /name="budget_amount"[^>]*value="50000"/)
  const fields = { scope: ['card:read'], budget_amount: '5', budget_period: 'day' }
  await browser.submit(page, 'allow', fields)
  assert.equal((await budgetOf(url, token)).amount_usd, 5)
})

test('an authorization request with a malformed budget is refused', async () => {
  const malformed = [
    { amount_usd: -1, period: 'day' },
    { amount_usd: '5', period: 'day' },
    { amount_usd: 5.001, period: 'day' },
    { amount_usd: 5, period: 'week' },
    { amount_usd: 5 },
    { amount_usd: 5, period: 'day', ask_above_usd: null },
    { amount_usd: 5, period: 'day', extra: 1 },
  ]
  const agent = await registerAgent(url)
  for (const detail of malformed) {
    const authorization_details = [{ type: 'spend_budget', ...detail }]
    const { url: asked } = await startAuthorization(agent, { authorization_details })
    const reply = await fetch(asked, { redirect: 'manual' })
    const told = `${reply.headers.get('location')} ${await reply.text()}`
    assert.match(told, /invalid_authorization_details/, JSON.stringify(detail))
  }
})

test('the owner changes and removes the budget in the panel, without a new consent', async () => {
  const holder = await openHolder(service, 500)
  const card = await issueCard(url, holder.key)
  const { token } = await grantBudget(url, holder, { amount_usd: 20 })
  assert.equal((await loadCard(url, token, { id: card.id, usd: 15 })).status, 200)
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  const [{ id, budget: shown }] = grants.body['data']
  assert.deepEqual([shown.amount_usd, shown.used_usd], [20, 15])
  const path = `/oauth/grants/${id}/budget`
  const body = { amount_usd: 40, period: 'month' }

  assert.equal((await send(url, 'PUT', path, { bearer: holder.bearer, body })).status, 204)
  const { amount_usd, period, used_usd } = await budgetOf(url, token)
  assert.deepEqual([amount_usd, period, used_usd], [40, 'month', 15])
  approvalIn(await loadCard(url, token, { id: card.id, usd: 26 }))
  assert.equal((await send(url, 'DELETE', path, { bearer: holder.bearer })).status, 204)
  assert.equal(await budgetOf(url, token), null)
  assert.equal((await loadCard(url, token, { id: card.id, usd: 26 })).status, 200)
  assert.equal((await auditLog(url, holder.bearer, '&action=oauth.budget_changed')).length, 2)

  for (const bearer of [token, holder.key]) {
    assertRefused(await send(url, 'PUT', path, { bearer, body }), 403, 'credential_not_allowed')
  }
  const stranger = await openHolder(service)
  assertRefused(await send(url, 'PUT', path, { bearer: stranger.bearer, body }), 404, 'not_found')
  const wrong = { bearer: holder.bearer, body: { amount_usd: -1, period: 'day' } }
  assertRefused(await send(url, 'PUT', path, wrong), 400, 'invalid_request')
})
