import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { getCard, issueCard, openHolder } from '#test/support/cards.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('on a phone, a new user signs up, tops up, issues a card and pays with it', {
  skip,
}, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url, width: 360 })
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.goto('/')
  await page.getByRole('link', { name: 'Create account' }).click()
  await page.getByLabel('Email').fill('newcomer@example.com')
  await page.getByLabel('Password').fill(PASSWORD)
  await button('Create account').click()

  await page.getByRole('link', { name: /Add money/ }).click()
  await page.getByLabel('Amount').fill('100')
  await button('Get deposit address').click()
  await page.getByRole('img', { name: 'Payment QR code' }).waitFor()
  await button('Copy address').click()
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.equal(await page.getByText(copied).first().isVisible(), true)

  await button('Simulate activity').click()
  await button('Send deposit').click()
  await page.getByText('$100.00 deposit sent.').waitFor()
  await button('Close').click()
  // The page updates without a reload.
  await page.getByText(/Confirming \d+\/19/).waitFor()
  await button('Simulate activity').click()
  await button('Mine 19 blocks').click()
  await button('Close').click()
  await page.getByText('Added to your balance.').waitFor()

  await page.getByRole('link', { name: 'Issue card' }).click()
  await page.getByLabel('Name').fill('Groceries')
  await page.getByLabel('Load amount').fill('60')
  await page.getByLabel('Daily').fill('50')
  await button('Issue card').last().click()
  await page.getByRole('heading', { name: /Groceries/ }).waitFor()

  await button('Simulate activity').click()
  await page.getByLabel('Amount', { exact: true }).fill('12.50')
  await button('Make purchase').click()
  await page.getByText('$12.50 at Corner Grocery approved.').waitFor()
  await button('Capture').click()
  await page.getByText('$12.50 captured.').waitFor()
  await button('Close').click()
  await page
    .getByRole('cell', { name: /Corner Grocery/ })
    .first()
    .waitFor()
  await page.getByText('$47.50', { exact: true }).waitFor()
  await page.getByRole('tab', { name: 'Limits and rules' }).click()
  await page.getByRole('meter', { name: 'Spent today' }).waitFor()
  await page.getByText('$12.50 of $50.00').first().waitFor()
  assert.deepEqual(complaints, [])
  await assertBooksSound(service.runtime.db)
})

test('freezing, unloading and canceling a card confirm each step', { skip }, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const card = await issueCard(url, bearer, { name: 'Short-lived', load_usd: 30 })
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto(`/cards/${card.id}`)
  await page.getByRole('button', { name: 'Freeze' }).click()
  await page.getByText('Card frozen.').waitFor()
  assert.equal((await getCard(url, bearer, card.id)).status, 'frozen')
  await page.getByRole('button', { name: 'Unfreeze' }).click()
  await page.getByText('Card unfrozen.').waitFor()

  await page.getByRole('button', { name: 'Unload' }).click()
  const amount = page.getByLabel('Amount')
  assert.equal(await amount.inputValue(), '', 'unloading everything has to be chosen')
  await page.getByRole('button', { name: 'Unload all' }).click()
  assert.equal(await amount.inputValue(), '30')
  await amount.fill('50')
  const unload = page.getByRole('dialog').getByRole('button', { name: 'Unload', exact: true })
  await unload.click()
  const refusal = page.getByRole('alert')
  assert.equal(await refusal.innerText(), 'The card balance is too low.')
  assert.equal(await amount.getAttribute('aria-invalid'), 'true')
  await amount.fill('10')
  await unload.click()
  await page.getByText('$10.00 moved to your balance.').waitFor()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Cancel card' }).click()
  await page.getByText('$20.00 returns to your balance immediately.').waitFor()
  await page.getByRole('button', { name: 'Cancel card' }).click()
  await page.getByText('Card canceled.').waitFor()
  assert.equal((await getCard(url, bearer, card.id)).status, 'cancelled')
})

test('with two-factor authentication, sign-in asks for a code and rejects a wrong one', {
  skip,
}, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { clock } = service.runtime
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const { page } = await visitOf(browser, { url })
  await page.goto('/sign_in')
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Authentication code').fill(wrongCodeOf(secret, clock))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Authentication code').fill(codeOf(secret, clock, 1))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()

  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal(await page.evaluate('sessionStorage.length'), 0)
})
