import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { startAgentService } from '#test/support/agent.ts'
import { auditLog } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const reveal = (page: Page) => page.getByRole('button', { name: 'Reveal card number' })

/** The DOM and the browser storage, where a number could remain. */
const remembered = (page: Page) =>
  page.evaluate(`JSON.stringify([
    document.documentElement.outerHTML, { ...sessionStorage }, { ...localStorage }])`)

async function confirm(page: Page, password: string, code?: string): Promise<void> {
  await page.getByLabel('Password').fill(password)
  if (code !== undefined) await page.getByLabel('Authentication code').fill(code)
  await page.getByRole('button', { name: 'Reveal', exact: true }).click()
}

test('the password shows number, expiry and CVV for a minute, and leaves no trace', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 50)
  const card = await issueCard(url, holder.bearer, { name: 'Online' })
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.clock.install()
  await page.goto(`/cards/${card.id}`)
  await reveal(page).click()
  await confirm(page, PASSWORD)
  const digits = page.getByTestId('pan')
  await digits.waitFor()
  const pan = (await digits.innerText()).replaceAll(' ', '')
  assert.match(pan, new RegExp(`^\\d{12}${card.last4}$`))
  for (const [name, format] of [
    ['Copy card number', /^\d{16}$/],
    ['Copy expiration date', /^\d\d\/\d\d$/],
    ['Copy CVV', /^\d{3}$/],
  ] as const) {
    await page.getByRole('button', { name }).click()
    assert.match(String(await page.evaluate('navigator.clipboard.readText()')), format)
  }
  await page.clock.fastForward(61_000)
  await digits.waitFor({ state: 'detached' })
  const left = String(await remembered(page))
  assert.equal(left.includes(pan) || left.includes(pan.replaceAll(/(.{4})(?=.)/g, '$1 ')), false)
  const { body } = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  assert.deepEqual(body.data, [])
  const revealed = (await auditLog(url, holder.bearer)).filter(
    ({ action }) => action === 'card.pan_revealed',
  )
  assert.deepEqual(
    revealed.map(({ actor }) => actor.type),
    ['oauth_client'],
  )
  assert.deepEqual(complaints, [])
})

test('a wrong password says so in the dialog, and the right one then works', { skip }, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 50)
  const card = await issueCard(url, holder.bearer)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto(`/cards/${card.id}`)
  await reveal(page).click()
  await confirm(page, 'not the right password')
  await page.getByRole('alert').filter({ hasText: 'Incorrect password.' }).waitFor()
  assert.equal(await page.getByLabel('Password').getAttribute('aria-invalid'), 'true')
  assert.equal(await page.getByTestId('pan').count(), 0)
  await confirm(page, PASSWORD)
  await page.getByTestId('pan').waitFor()
  await page.getByRole('button', { name: 'Hide now' }).click()
  await page.getByTestId('pan').waitFor({ state: 'detached' })
})

test('with two-factor authentication on, the dialog asks for the code too', { skip }, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 50)
  const card = await issueCard(url, holder.bearer)
  const { clock } = service.runtime
  const { secret } = await turnOnTwoFactor(url, holder.bearer, clock)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto(`/cards/${card.id}`)
  await reveal(page).click()
  await confirm(page, PASSWORD, codeOf(secret, clock, 1))
  await page.getByTestId('pan').waitFor()
})
