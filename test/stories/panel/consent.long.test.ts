import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { AuthorizationResponseError } from 'oauth4webapi'
import { opt_in_scopes, scopes as scope_sentences } from '#contract/scopes.ts'
import type { Page } from '#test/packages/playwright.ts'
import {
  exchange,
  refresh,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { PASSWORD, type Person } from '#test/support/people.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const requested_scopes = [
  'card:read',
  'card:control',
  'card:reveal_pan',
  'withdrawal:create',
] as const
const asking = { scope: requested_scopes.join(' '), resource: `${url}/v1` }

/** The agent's redirect server on its own machine. */
const listening = createServer((_, response) => response.end('You may close this window.'))
listening.listen(0, '127.0.0.1')
await once(listening, 'listening')
after(() => void listening.close())
const host = `127.0.0.1:${(listening.address() as AddressInfo).port}`
const redirect_uri = `http://${host}/callback`

/** Opens the authorization URL and signs in; the consent page follows. */
async function ask(page: Page, authorize_url: string, { email }: Person): Promise<void> {
  await page.goto(authorize_url)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(`You’ll return to ${host}`).waitFor()
}

async function decide(page: Page, verb: 'Allow' | 'Deny'): Promise<URL> {
  await page.getByRole('button', { name: verb, exact: true }).click()
  await page.waitForURL(`${redirect_uri}?**`)
  return new URL(page.url())
}

test('an agent gets the checked scopes for the selected card, until its access is revoked', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 100)
  const groceries = await issueCard(url, holder.bearer, { name: 'Groceries' })
  await issueCard(url, holder.bearer, { name: 'Rent' })
  const agent = await registerAgent(url, {
    client_name: 'Pantry agent',
    redirect_uris: [redirect_uri],
  })
  const attempt = await startAuthorization(agent, asking)

  const { page, complaints } = await visitOf(browser, { url, width: 360 })
  await ask(page, attempt.url, holder)
  await page
    .getByRole('heading', { name: 'Allow Pantry agent to access your account?', level: 1 })
    .waitFor()
  for (const scope of requested_scopes) {
    const box = page
      .getByRole('checkbox', { name: scope_sentences[scope] })
      .and(page.locator(`[value="${scope}"]`))
    assert.equal(await box.isChecked(), !opt_in_scopes.includes(scope), scope)
  }
  const card = page.getByRole('checkbox', { name: /^Groceries/ })
  assert.equal(await card.count(), 0, 'cards are hidden while all are chosen')
  await page.getByRole('radio', { name: /^Only these cards/ }).check()
  await card.check()
  const granted = await exchange(agent, attempt, await decide(page, 'Allow'))
  assert.equal(granted.scope, 'card:read card:control')
  assert.deepEqual(complaints, [])

  const cards = () => send(url, 'GET', '/v1/cards', { bearer: granted.access_token })
  const seen = (await cards()).body.data as { id: string }[]
  assert.deepEqual(
    seen.map(({ id }) => id),
    [groceries.id],
  )

  const panel = await visitOf(browser, { url, bearer: holder.bearer })
  await panel.page.goto('/developers/agents')
  const listed = panel.page
    .getByRole('list', { name: 'Connected agents' })
    .getByRole('listitem')
    .filter({ has: panel.page.getByRole('heading', { name: 'Pantry agent' }) })
  const allowed = listed.getByRole('list', { name: 'Permissions' }).getByRole('listitem')
  await allowed.first().waitFor()
  assert.deepEqual(await allowed.allInnerTexts(), ['Load and change cards', 'See cards'])
  await listed.getByText(/^Groceries/).waitFor()
  await panel.page.getByRole('button', { name: 'Revoke Pantry agent' }).click()
  await panel.page.getByRole('button', { name: 'Revoke access' }).click()
  await panel.page.getByText('Access revoked for Pantry agent.').waitFor()
  await listed.getByText('Revoked').first().waitFor()

  const refused = await cards()
  assert.deepEqual([refused.status, refused.body.error], [401, 'token_revoked'])
  await assert.rejects(refresh(agent, granted.refresh_token), { error: 'invalid_grant' })
  assert.deepEqual(panel.complaints, [])
})

test('denying access, or allowing no scope, grants nothing and returns access_denied', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service)
  const agent = await registerAgent(url, {
    client_name: 'Pushy agent',
    redirect_uris: [redirect_uri],
  })
  const isRefused = (problem: unknown) =>
    problem instanceof AuthorizationResponseError && problem.error === 'access_denied'
  for (const verb of ['Deny', 'Allow'] as const) {
    const attempt = await startAuthorization(agent, asking)
    const { page } = await visitOf(browser, { url })
    await ask(page, attempt.url, holder)
    for (const scope of verb === 'Allow' ? requested_scopes : []) {
      await page.getByRole('checkbox', { name: scope }).uncheck()
    }
    await assert.rejects(exchange(agent, attempt, await decide(page, verb)), isRefused)
  }
  const { page } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto('/developers/agents')
  await page.getByText('No connected agents').waitFor()
})

test('the pages fit with long names, and going back after Allow does not say that it failed', {
  skip,
}, async () => {
  if (browser === null) return
  const body = { email: `${'n'.repeat(60)}@${'d'.repeat(60)}.example`, password: PASSWORD }
  const { email } = (await send(url, 'POST', '/v1/accounts', { body })).body as Person
  const agent = await registerAgent(url, {
    client_name: 'N'.repeat(60),
    redirect_uris: [redirect_uri],
  })
  const attempt = await startAuthorization(agent, asking)
  const { page } = await visitOf(browser, { url, width: 360 })
  const width = () => page.evaluate('document.documentElement.scrollWidth')
  await page.goto(attempt.url)
  assert.equal(await width(), 360, 'the sign-in page')
  await ask(page, attempt.url, { email, account_id: '', bearer: '' })
  assert.equal(await width(), 360, 'the consent page')
  await exchange(agent, attempt, await decide(page, 'Allow'))
  await page.goBack()
  await page.getByRole('heading', { name: 'This page has expired' }).waitFor()
  assert.equal(await page.getByText('not given access').count(), 0)
})
