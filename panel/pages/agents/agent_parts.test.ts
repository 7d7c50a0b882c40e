import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import type { Grant } from '#panel/grants.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { grantWith } from '#panel/test_support/samples.ts'
import { useFilters } from '#panel/ui/filters.tsx'
import { AgentBudget } from './agent_budget.tsx'
import { AgentFilter } from './agent_filter.tsx'
import { AgentLinks } from './agent_links.tsx'
import { RemoveScope } from './remove_scope.tsx'

const grant = grantWith({ scopes: ['cards:read', 'webhook:write'] })
const PUT = 'PUT /oauth/grants/grant_1/budget'
const DELETE = 'DELETE /oauth/grants/grant_1/budget'

test('agent_budget: amount, period and the limit to ask above are sent', async (t) => {
  const service = serve(t, { [PUT]: {} })
  const page = await open(t, AgentBudget, { grant })
  await page.click('button', 'Set budget for Shopper')
  await page.fill('Amount', '1,000')
  await page.fill('Period', 'month')
  await page.fill('Ask me above (optional)', '50')
  await page.click('button', 'Save')
  const sent = { amount_usd: 1000, period: 'month', ask_above_usd: 50 }
  assert.deepEqual(service.sent(PUT), [sent])
  assert(!page.has('dialog'))
})

test('agent_budget: a limit to ask above without an amount is refused at the amount field', async (t) => {
  const service = serve(t, {})
  const page = await open(t, AgentBudget, { grant })
  await page.click('button', 'Set budget for Shopper')
  await page.fill('Ask me above (optional)', '50')
  await page.click('button', 'Save')
  assert.match(page.errorOf('Amount') ?? '', /Enter an amount/)
  assert.deepEqual(service.calls, [])
})

const budget = {
  amount_usd: 100,
  period: 'day' as const,
  used_usd: 130,
  resets_at: '2026-11-17T00:00:00.000Z',
  ask_above_usd: null,
} as NonNullable<Grant['budget']>

test('agent_budget: an emptied amount removes the budget, and its use is never above it', async (t) => {
  const service = serve(t, { [DELETE]: {} })
  const page = await open(t, AgentBudget, { grant: { ...grant, budget } })
  assert.equal(page.get('meter').getAttribute('aria-valuenow'), '100')
  await page.click('button', 'Edit budget for Shopper')
  await page.fill('Amount', '')
  await page.click('button', 'Save')
  assert.equal(service.sent(DELETE).length, 1)
})

test('agent_budget: a refused amount is shown at its field, and Cancel closes the dialog', async (t) => {
  serve(t, { [PUT]: refuse('invalid_amount', { ask_above_usd: 'must be at most 100' }) })
  const page = await open(t, AgentBudget, { grant: { ...grant, budget } })
  await page.click('button', 'Edit budget for Shopper')
  await page.fill('Ask me above (optional)', '500')
  await page.click('button', 'Save')
  assert.equal(page.errorOf('Ask me above (optional)'), 'Must be at most 100.')
  await page.click('button', 'Cancel')
  assert(!page.has('dialog'))
})

test('agent_budget: that of a revoked agent cannot be changed', async (t) => {
  const page = await open(t, AgentBudget, { grant: { ...grant, status: 'revoked' } })
  assert(!page.has('button'))
})

test('remove_scope: a permission is removed after a question that names the agent', async (t) => {
  const path = 'DELETE /oauth/grants/grant_1/scopes/webhook%3Awrite'
  const service = serve(t, { [path]: {} })
  const page = await open(t, RemoveScope, { grant, scope: 'webhook:write' })
  await page.clickOn(page.all('button')[0] ?? document.body)
  assert.match(page.in('dialog').text(), /Shopper.*Webhooks it created are disabled/)
  await page.click('button', 'Remove permission')
  assert.equal(service.sent(path).length, 1)
  assert(!page.has('dialog'))
})

function Filter() {
  return createElement(AgentFilter<'agent'>, { of: useFilters(['agent']), name: 'agent' })
}

test('agent_filter: an agent with two grants is one option, and one that is gone stays chosen', async (t) => {
  const again = { ...grant, id: 'grant_2' }
  serve(t, { 'GET /oauth/grants': { data: [grant, again] } })
  const page = await open(t, Filter, {}, { path: '/list?agent=client_9' })
  assert.equal(page.valueOf('Agent'), 'client_9')
  assert.deepEqual(page.names('option'), ['All agents', 'Shopper', 'client_9'])
})

test('agent_filter: without agents there is nothing to filter', async (t) => {
  serve(t, { 'GET /oauth/grants': { data: [] } })
  const page = await open(t, Filter, {}, { path: '/list' })
  assert(!page.has('combobox'))
})

test('agent_links: every list is filtered by this agent', async (t) => {
  const page = await open(t, AgentLinks, { client_id: 'client_1' })
  const links = page.all('link').map((link) => link.getAttribute('href') ?? '')
  assert.equal(links.length, 6)
  assert(links.every((href) => href.endsWith('=client_1')))
})
