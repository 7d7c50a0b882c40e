import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHolder } from '#test/support/cards.ts'
import { balanceOf } from '#test/support/disputes.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'
import { endOnChain, WALLET } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('a withdrawal shows its fee, is reviewed before sending, and tracked to completion', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/withdrawals')
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByLabel('Amount').fill('30')
  await page.getByLabel('Wallet address').fill(WALLET)
  const dialog = page.getByRole('dialog')
  await dialog.getByText('$29.00').waitFor()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByText(WALLET).waitFor()
  await dialog.getByText('USDT on TRON', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Send $30.00' }).click()
  await page.getByRole('heading', { name: '$30.00 withdrawal' }).waitFor()
  assert.equal(await balanceOf(url, bearer), 70)

  const steps = page.getByRole('list', { name: 'Timeline' })
  await steps.getByText('Sent', { exact: true }).waitFor()
  const [id = ''] = /wd_\w{26}/.exec(page.url()) ?? []
  await endOnChain({ url, bearer }, id, 'confirm')
  await steps.getByText('Completed').waitFor()
  assert.deepEqual(complaints, [])
  await assertBooksSound(service.runtime.db)
})

test('a withdrawal to an invalid address goes back to the address and moves no money', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto('/withdrawals?withdraw')
  await page.getByLabel('Amount').fill('30')
  const address = page.getByLabel('Wallet address')
  await address.fill('T123')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Send $30.00' }).click()
  const refusal = 'This is not a valid TRON address. Check it for typos.'
  await page.getByRole('alert').filter({ hasText: refusal }).waitFor()
  assert.equal(await address.getAttribute('aria-invalid'), 'true')
  assert.equal(await balanceOf(url, bearer), 100)
  await address.fill(WALLET)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Send $30.00' }).click()
  await page.getByRole('heading', { name: '$30.00 withdrawal' }).waitFor()
})

test('with two-factor authentication, a withdrawal needs a valid code', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { clock } = service.runtime
  const { secret } = await turnOnTwoFactor(url, bearer, clock)
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto('/withdrawals')
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('button', { name: 'Withdraw all' }).click()
  await page.getByLabel('Wallet address').fill(WALLET)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Authentication code').fill(wrongCodeOf(secret, clock))
  await page.getByRole('button', { name: 'Send $100.00' }).click()
  await page.getByRole('alert').waitFor()
  assert.equal(await balanceOf(url, bearer), 100)
  await page.getByLabel('Authentication code').fill(codeOf(secret, clock, 1))
  await page.getByRole('button', { name: 'Send $100.00' }).click()
  await page.getByRole('heading', { name: '$100.00 withdrawal' }).waitFor()
})
