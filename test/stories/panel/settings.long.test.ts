import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { codeOf } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const { clock } = service.runtime
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto('/sign_in')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('two-factor authentication is turned on, required at sign-in, and turned off', {
  skip,
}, async () => {
  if (browser === null) return
  const { email } = await openAccount(url)
  const { page } = await visitOf(browser, { url })
  await signIn(page, email)
  await page.getByRole('link', { name: 'Security' }).click()
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('img', { name: /QR code/ }).waitFor()
  const secret = await page.getByRole('dialog').locator('code').innerText()
  await page.getByLabel('Authentication code').fill(codeOf(secret, clock))
  await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click()
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
  await codes.first().waitFor()
  const recovery_codes = await codes.allInnerTexts()
  assert.equal(new Set(recovery_codes).size, 10)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('You’ll need a code from your authenticator app').waitFor()

  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signIn(page, email)
  await page.getByLabel('Authentication code').fill(codeOf(secret, clock, 1))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('link', { name: 'Security' }).click()

  await page.getByRole('button', { name: 'Turn off' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByLabel('Authentication code').fill(recovery_codes[0] ?? '')
  await dialog.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('Two-factor authentication is off.').waitFor()
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
})

test('email, password, notifications and theme can be changed', {
  skip,
}, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { page } = await visitOf(browser, { url, bearer: person.bearer })
  await page.goto('/settings')
  await page.getByRole('switch', { name: 'Purchase approved' }).click()
  await page.getByRole('switch', { name: 'Purchase approved', checked: true }).waitFor()
  await page.getByLabel('Alert me when my balance is below').fill('20')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Low balance alert saved.').waitFor()
  assert.equal(await page.getByRole('switch', { name: 'Security alerts' }).isDisabled(), true)

  await page.getByRole('link', { name: 'Security' }).click()
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill('short')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('New password').fill('seven quiet lamps at noon')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('You’re signed out everywhere else.').waitFor()

  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('New email').fill(`new_${person.email}`)
  await page.getByLabel('Confirm with your password').fill('seven quiet lamps at noon')
  await page.getByRole('button', { name: 'Change email' }).click()
  await page.getByText(`new_${person.email}`).first().waitFor()

  await page.getByLabel('Theme').selectOption('Dark')
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: person.bearer })
  assert.equal(account.body['notifications'].transaction_authorized, true)
  assert.equal(account.body['notifications'].low_balance_threshold_usd, 20)
})
