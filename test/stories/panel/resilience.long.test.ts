import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { advance } from '#test/support/calls.ts'
import { openHolder } from '#test/support/cards.ts'
import { OPERATOR_TOKEN as operator_token } from '#test/support/operator.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('a new tab of the same browser is signed in, and signing out ends both', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 25)
  // Without an init script, which would also sign the second tab in.
  const { page, complaints } = await visitOf(browser, { url })
  await page.goto('/')
  await page.evaluate(`sessionStorage.setItem('florin_bearer', '${holder.bearer}')`)
  await page.reload()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const tab = await page.context().newPage()
  await tab.goto(`${url}/cards`)
  await tab.getByRole('heading', { name: 'Cards' }).waitFor()
  assert.equal(await tab.evaluate('localStorage.length'), 0, 'nothing on disk')
  await tab.getByRole('button', { name: 'Account' }).click()
  await tab.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('a page whose code cannot be loaded says so, and the others still open', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 25)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Withdrawals' }).first().click()
  await page.getByText('This page didn’t load').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Withdrawals' }).waitFor()
})

test('a page whose code is gone after an upgrade loads the new version by itself', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 25)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  let missing = 0
  await page.route('**/assets/withdrawals*.js', async (route) => {
    missing += 1
    if (missing === 1) await route.fulfill({ status: 404, body: '' })
    else await route.continue()
  })
  await page.getByRole('link', { name: 'Withdrawals' }).first().click()
  await page.getByRole('heading', { name: 'Withdrawals' }).waitFor()
  assert.equal(missing, 2, 'the file was gone once, and then loaded')
})

test('the console stays signed in after a reload', { skip }, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url })
  await page.goto('/operator/')
  await page.getByLabel('Operator token').fill(operator_token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  for (const path of ['/operator/', '/operator/accounts']) {
    await page.goto(path)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: /Overview|Accounts/ }).waitFor()
  }
  assert.deepEqual(complaints, [])
})

test('the window of a top-up follows the clock of the sandbox', { skip }, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 25)
  await advance(url, holder.bearer, 20 * 86_400)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/topups')
  await page.getByLabel('Amount').fill('50')
  await page.getByRole('button', { name: 'Get deposit address' }).click()
  const shown = await page.getByRole('timer').innerText()
  assert.match(shown, /^(?:1:00:00|\d\d:\d\d)$/, 'at most an hour is left')
})

test('a wrong address is a page for people and JSON for programs', { skip }, async () => {
  if (browser === null) return
  const { page } = await visitOf(browser, { url })
  const response = await page.goto('/no/such/page')
  assert.equal(response?.status(), 404)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  const api = await page.goto('/v1/no_such_list')
  assert.match(api?.headers()['content-type'] ?? '', /^application\/json/)
  const console_page = await page.goto('/operator/')
  assert.equal(console_page?.status(), 200)
})
