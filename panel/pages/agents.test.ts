import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import type { Grant } from '#panel/grants.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { grantWith, page as pageOf, row } from '#panel/test_support/samples.ts'
import { AgentPage } from './agent.tsx'
import { Agents } from './agents.tsx'

const grant = grantWith({ scopes: ['cards:read', 'cards:write'] })
const answersWith = (...data: Grant[]): Answers => ({
  'GET /oauth/grants': { data },
  'GET /files/statements/2026-11.agents.json': {
    data: [{ client_id: 'client_1', spent_usd: -12.5 }],
  },
  list_cards: pageOf([]),
  list_approvals: pageOf([]),
  get_activity: pageOf([row('get_activity', { message: 'Card issued' })]),
})
const NOW = '2026-11-16T09:30:00.000Z'

test('agent_spending: an agent is listed with what it spent this month', async (t) => {
  useTestClock(t, NOW)
  serve(t, answersWith(grant))
  const page = await open(t, Agents, {})
  assert.match(page.text(), /Shopper.*Spent in November 2026 \$12\.50/)
  assert.equal(page.get('link', 'Shopper').getAttribute('href'), '/agents/grant_1')
})

test('revoke_button: revoking asks first, and the agent is then shown as revoked', async (t) => {
  useTestClock(t, NOW)
  const revoked = { ...grant, status: 'revoked' as const, revoked_at: grant.created_at }
  const service = serve(t, { ...answersWith(grant), 'DELETE /oauth/grants/grant_1': {} })
  const page = await open(t, Agents, {})
  await page.click('button', /^Revoke/)
  await page.click('button', 'Cancel')
  assert.deepEqual(service.sent('DELETE /oauth/grants/grant_1'), [])
  await page.click('button', /^Revoke/)
  service.answer({ 'GET /oauth/grants': { data: [revoked] } })
  await page.click('button', 'Revoke access')
  assert.equal(service.sent('DELETE /oauth/grants/grant_1').length, 1)
  assert(!page.has('button', /^Revoke/))
})

test('without agents, the page says how to connect one', async (t) => {
  useTestClock(t, NOW)
  serve(t, answersWith())
  const page = await open(t, Agents, {})
  assert.match(page.text(), /http:\/\/localhost\/mcp.*No connected agents/)
})

test('agent: its page lists what it did and links to its lists', async (t) => {
  useTestClock(t, NOW)
  const service = serve(t, answersWith(grant))
  const page = await open(t, AgentPage, { id: 'grant_1' })
  assert.match(page.in('table', 'Actions').text(), /Card issued/)
  assert.deepEqual(service.sent('get_activity'), [{ agent: 'client_1' }])
  const href = page.get('link', 'Withdrawals').getAttribute('href')
  assert.equal(href, '/withdrawals?agent=client_1')
})

test('agent: a grant that does not exist is not found', async (t) => {
  useTestClock(t, NOW)
  serve(t, answersWith(grant))
  const page = await open(t, AgentPage, { id: 'grant_2' })
  assert.match(page.text(), /Page not found/)
})
