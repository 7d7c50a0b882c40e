import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { registerAgent, startAgentService, startAuthorization } from '#test/support/agent.ts'
import { approvalIn, budgetOf, decide, grantBudget, loadCard } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { everyPage, NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { PASSWORD } from '#test/support/people.ts'

const service = await startAgentService({
  env: { FLORIN_RISK: '{"approval_password_usd": 200}' },
})
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

async function openAgent() {
  const holder = await openHolder(service, 500)
  const card = await issueCard(url, holder.key, { name: 'Groceries' })
  const { token } = await grantBudget(url, holder, { amount_usd: 50, ask_above_usd: 40 })
  return { holder, card, token, load: (usd: number) => loadCard(url, token, { id: card.id, usd }) }
}

test('a request shows up while the page is open, and one click lets the agent go on', {
  skip,
}, async () => {
  if (browser === null) return
  const { holder, card, load } = await openAgent()
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/approvals')
  await page.getByText('Nothing to approve').waitFor()
  approvalIn(await load(120))
  const summary = `Shopper wants to load $120.00 onto Groceries ·· ${card.last4}`
  await page.getByText(summary).waitFor()
  await page.getByRole('link', { name: /Approvals.*1 waiting/ }).waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Nothing to approve').waitFor()
  assert.equal((await load(120)).status, 200)

  const { id } = approvalIn(await load(130))
  await page.goto(`/approvals/${id}`)
  await page.getByRole('button', { name: 'Decline' }).click()
  await page.getByText('Declined', { exact: true }).waitFor()
  assert.notEqual(approvalIn(await load(130)).id, id)
  assert.deepEqual(complaints, [])
})

test('an agent’s page shows what it may do and did, removes one permission, and ends its access', {
  skip,
}, async () => {
  if (browser === null) return
  const { holder, token, load } = await openAgent()
  assert.equal((await load(20)).status, 200)
  approvalIn(await load(120))
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/agents')
  await page.getByRole('link', { name: 'Shopper' }).click()
  await page.getByRole('heading', { name: 'Shopper' }).waitFor()
  await page.getByText('$20.00 of $50.00 used').waitFor()
  await page.getByText(/^Load, unload, freeze/).waitFor()
  const asked = page.getByRole('table', { name: 'Requests' })
  await asked.getByText('$120.00', { exact: true }).waitFor()
  const did = page.getByRole('table', { name: 'Actions' })
  await did.getByText(/^\$20\.00 loaded onto/).waitFor()
  assert.equal((await send(url, 'GET', '/v1/cards', { bearer: token })).status, 200)
  const read = 'Remove “See your cards, but not their full numbers.”'
  await page.getByRole('button', { name: read }).click()
  await page.getByRole('button', { name: 'Remove permission' }).click()
  await page.getByText('Permission removed from Shopper.').waitFor()
  await page.getByRole('button', { name: read }).waitFor({ state: 'detached' })
  assert.equal((await send(url, 'GET', '/v1/cards', { bearer: token })).status, 403)
  assert.equal((await load(1)).status, 200, 'it keeps its other permissions')
  await page.getByRole('button', { name: 'Revoke Shopper' }).click()
  await page.getByRole('button', { name: 'Revoke access' }).click()
  await page.getByText('Access revoked for Shopper.').waitFor()
  assert.equal((await load(1)).status, 401)
  assert.deepEqual(complaints, [])
})

test('a large amount needs the password, asked for in a dialog', { skip }, async () => {
  if (browser === null) return
  const { holder, load } = await openAgent()
  const { id } = approvalIn(await load(250))
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto(`/approvals/${id}`)
  await page.getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog', { name: 'Approve a large amount' })
  await dialog.getByLabel('Password').fill('not the right password')
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'Incorrect password.' }).waitFor()
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Nothing to approve').waitFor()
  assert.equal((await load(250)).status, 200)
})

test('the owner changes the budget of an agent on its card', { skip }, async () => {
  if (browser === null) return
  const { holder, token, load } = await openAgent()
  await load(20)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/agents')
  await page.getByText('$20.00 of $50.00 used').waitFor()
  await page.getByRole('button', { name: 'Edit budget' }).click()
  await page.getByLabel('Amount').fill('75.50')
  await page.getByLabel('Period').selectOption('per month')
  await page.getByLabel('Ask me above').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('$75.50 per month').waitFor()
  const { amount_usd, period, ask_above_usd } = await budgetOf(url, token)
  assert.deepEqual([amount_usd, period, ask_above_usd], [75.5, 'month', null])
  await page.getByRole('button', { name: 'Edit budget' }).click()
  await page.getByLabel('Amount').fill('')
  await page.getByLabel('Ask me above').fill('30')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter an amount, or clear “Ask me above”').waitFor()
  assert.equal((await budgetOf(url, token)).amount_usd, 75.5, 'nothing was saved')
  await page.getByLabel('Ask me above').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Set budget' }).waitFor()
  assert.equal(await budgetOf(url, token), null)
})

const shows = (path: string, ...texts: (string | RegExp)[]) => ({
  path,
  ready: async (page: Page) => {
    for (const text of texts) await page.getByText(text).first().waitFor()
  },
})

test('the pages of approvals and budgets fit, log no errors and are accessible', {
  skip,
}, async () => {
  if (browser === null) return
  const { holder, load } = await openAgent()
  await load(38)
  const declined = approvalIn(await load(60)).id
  await decide(url, holder.bearer, { id: declined, decision: 'decline' })
  const { id } = approvalIn(await load(120))
  const agent = await registerAgent(url, { client_name: 'Shopper' })
  const details = [{ type: 'spend_budget', amount_usd: 50, period: 'day' }]
  const scope = 'card:control card:read'
  const { url: asked } = await startAuthorization(agent, { scope, authorization_details: details })
  const consent = {
    name: 'consent_budget',
    path: asked,
    ready: async (page: Page) => {
      if (await page.getByLabel('Email').isVisible()) {
        await page.getByLabel('Email').fill(holder.email)
        await page.getByLabel('Password').fill(PASSWORD)
        await page.locator('button.main').click()
      }
      await page.getByLabel('Amount in US dollars').waitFor()
    },
  }
  const agents = shows('/developers/agents', '$50.00 per day')
  await everyPage(browser, { url, bearer: holder.bearer }, [
    { name: 'approvals', ...shows(`/approvals/${id}`, /wants to load \$120/, 'Earlier requests') },
    { name: 'agent_budget', ...agents },
    {
      name: 'agent_budget_edit',
      path: agents.path,
      ready: async (page: Page) => {
        await agents.ready(page)
        await page.getByRole('button', { name: 'Edit budget' }).click()
        await page.getByText('before it has to ask you').waitFor()
      },
    },
    consent,
  ])
})
