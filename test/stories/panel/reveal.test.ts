import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startAgentService } from '#test/support/agent.ts'
import { auditLog } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { PASSWORD } from '#test/support/people.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const reveal = (page: Page) => page.getByRole('button', { name: 'Reveal card number' })

/** The DOM and the browser storage, where a number could remain. */
const remembered = (page: Page) =>
  page.evaluate(`JSON.stringify([
    document.documentElement.outerHTML, { ...sessionStorage }, { ...localStorage }])`)

async function signIn(consent: Page, email: string): Promise<void> {
  await consent.getByLabel('Email').fill(email)
  await consent.getByLabel('Password').fill(PASSWORD)
  await consent.getByRole('button', { name: 'Continue' }).click()
}

test('the card number is shown for a minute after consent, and leaves no trace', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 50)
  const card = await issueCard(url, holder.bearer, { name: 'Online' })
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.clock.install()
  await page.goto(`/cards/${card.id}`)
  const opening = page.waitForEvent('popup')
  await reveal(page).click()
  const consent = await opening
  await signIn(consent, holder.email)
  await consent.getByText('Florin panel', { exact: false }).first().waitFor()
  await consent.getByRole('checkbox', { name: /card:reveal_pan/ }).check()
  await consent.getByRole('button', { name: 'Allow' }).click()

  const digits = page.getByTestId('pan')
  await digits.waitFor()
  const pan = (await digits.innerText()).replaceAll(' ', '')
  assert.match(pan, new RegExp(`^\\d{12}${card.last4}$`))
  assert.equal(consent.isClosed(), true)

  await page.clock.fastForward(61_000)
  await digits.waitFor({ state: 'detached' })
  const left = String(await remembered(page))
  assert.equal(left.includes(pan) || left.includes(pan.replaceAll(/(.{4})(?=.)/g, '$1 ')), false)

  const { body } = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  const states = (body.data as { status: string }[]).map(({ status }) => status)
  assert.deepEqual(
    states.filter((status) => status === 'active'),
    [],
    'the grant was revoked',
  )
  const revealed = (await auditLog(url, holder.bearer)).filter(
    ({ action }) => action === 'card.pan_revealed',
  )
  assert.deepEqual(
    revealed.map(({ actor }) => actor.type),
    ['oauth_client'],
  )
  assert.deepEqual(complaints, [])
})

test('without consent, or with the window closed, the panel explains why no number is shown', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 50)
  const card = await issueCard(url, holder.bearer)
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto(`/cards/${card.id}`)
  const first = page.waitForEvent('popup')
  await reveal(page).click()
  const consent = await first
  await signIn(consent, holder.email)
  await consent.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Card number not revealed.').waitFor()
  const second = page.waitForEvent('popup')
  await reveal(page).click()
  await (await second).close()
  await page.getByText('The approval window was closed. Try again.').waitFor()
  assert.equal(await page.getByTestId('pan').count(), 0)
})
