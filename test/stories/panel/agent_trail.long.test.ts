import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { grantBudget } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { authorize, follow } from '#test/support/spending.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('the lists of the panel are filtered by agent, from links of its page, and keep it in the URL', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 200)
  const { key } = holder
  const own = await issueCard(url, key, { name: 'Groceries', load_usd: 20 })
  const { token } = await grantBudget(url, holder, { amount_usd: 50 })
  const card = await issueCard(url, token, { name: 'Museum', load_usd: 30 })
  for (const [spent, merchant_name] of [
    [own, 'Corner shop'],
    [card, 'City museum'],
  ] as const) {
    const spender = { key, card: spent }
    const { id } = await authorize(url, spender, { amount: 7, merchant_name })
    await follow(url, spender, { id, verb: 'capture' })
  }
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  const openList = async (link: string) => {
    await page.goto('/agents')
    await page.getByRole('link', { name: 'Shopper' }).click()
    await page.getByRole('main').getByRole('link', { name: link, exact: true }).click()
    await page.waitForURL(/(agent|actor_id)=/)
  }
  // The owner's own purchase is not counted.
  for (const path of ['/agents', null]) {
    if (path === null) await page.getByRole('link', { name: 'Shopper' }).click()
    else await page.goto(path)
    const spent = page.getByRole('term').filter({ hasText: /^Spent in \w+ \d{4}$/ })
    await spent.locator('..').getByText('$7.00').waitFor()
  }

  await openList('Transactions on its cards')
  await page.getByText('City museum').first().waitFor()
  assert.equal(await page.getByText('Corner shop').count(), 0)
  await page.getByLabel('Agent').selectOption({ label: 'All agents' })
  await page.getByText('Corner shop').first().waitFor()
  assert.doesNotMatch(page.url(), /agent=/)

  await openList('Cards it issued')
  await page.getByText('Museum').first().waitFor()
  assert.equal(await page.getByRole('table').getByText('Groceries').count(), 0)
  await openList('Activity')
  await page.getByText('$30.00 loaded onto').waitFor()
  assert.equal(await page.getByText('$20.00 loaded onto').count(), 0)
  await openList('Audit log')
  await page.getByRole('table').getByText('Shopper').first().waitFor()

  await page.goto('/statements')
  const month = await page.getByRole('table').locator('tbody th, tbody td').first().innerText()
  assert.ok(month !== '')
  await page.getByRole('table').locator('tbody button[aria-expanded]').first().click()
  const lines = page.getByRole('table', { name: 'By agent' })
  await lines.getByText('Shopper').waitFor()
  assert.match(await lines.innerText(), /Shopper[\s\S]*30\.00[\s\S]*7\.00[\s\S]*You/)
  await page.getByRole('button', { name: /CSV by agent/ }).waitFor()
  assert.deepEqual(complaints, [])
})
