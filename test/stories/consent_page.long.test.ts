import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scope_names } from '#contract/scopes.ts'
import {
  exchange,
  openConsent,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser, boxesIn } from '#test/support/browser.ts'
import { callCard, issueCard, openHolder } from '#test/support/cards.ts'
import { NO_BROWSER, startBrowser, takeScreenshot, visitOf } from '#test/support/panel_page.ts'
import { PASSWORD } from '#test/support/people.ts'

const service = await startAgentService()
const { url } = service
const holder = await openHolder(service, 200)
const groceries = await issueCard(url, holder.key, {
  name: 'Groceries <b>',
  load_usd: 42.5,
  limits: { per_transaction_usd: 20, daily_usd: 60, monthly_usd: null },
})
const travel = await issueCard(url, holder.key)
await callCard(url, { id: travel.id, verb: 'freeze' }, { bearer: holder.key })
const agent = await registerAgent(url)

const SCOPE = 'card:read card:control webhook:write'

/** The cards of the token that a form with these fields leads to. */
async function cardsOf(fields: Record<string, string | string[]>) {
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: SCOPE })
  const page = await openConsent(browser, attempt.url, holder)
  const sent = await browser.submit(page, 'allow', { scope: 'card:read', ...fields })
  const { access_token } = await exchange(agent, attempt, new URL(sent.url))
  return (await service.runtime.credentials.callerOf(access_token, 'mcp')).card_ids
}

test('without scripts a checked card wins over "all cards"', async () => {
  assert.deepEqual(await cardsOf({ cards: 'all', card: [groceries.id] }), [groceries.id])
  assert.deepEqual(await cardsOf({ cards: 'some', card: travel.id }), [travel.id])
  assert.equal(await cardsOf({ cards: 'all' }), null)
})

test('a checked card of another account never becomes "all cards"', async () => {
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: SCOPE })
  const page = await openConsent(browser, attempt.url, holder)
  const foreign = { scope: 'card:read', cards: 'all', card: 'card_00000000000000000000000000' }
  const shown = await browser.submit(page, 'allow', foreign)
  assert.equal(shown.status, 400)
  assert.match(shown.text, /Select at least one card/)
})

test('a form with an error comes back with the cards that the owner chose, not with all', async () => {
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: SCOPE })
  const page = await openConsent(browser, attempt.url, holder)
  // 50,00 means 50 to some and would be read as 5,000.
  const fields = { scope: 'card:read', cards: 'some', card: travel.id, budget_amount: '50,00' }
  const shown = await browser.submit(page, 'allow', fields)
  assert.equal(shown.status, 400)
  assert.match(shown.text, /Enter the budget in dollars, like 50\./)
  assert.deepEqual(boxesIn(shown.text, 'card'), { [travel.id]: true, [groceries.id]: false })
  assert.match(shown.text, /value="some" checked>/)
  assert.doesNotMatch(shown.text, /value="all" checked>/)
})

test('each card is shown with its name, last four, balance, limits and state', async () => {
  const attempt = await startAuthorization(agent, { scope: SCOPE })
  const { text } = await openConsent(new Browser(url), attempt.url, holder)
  assert.match(text, new RegExp(`Groceries &#60;b&#62;, Visa ending in ${groceries.last4}`))
  assert.match(text, /Active · \$42\.50 balance · limits \$20\.00 per purchase, \$60\.00 per day</)
  assert.match(text, new RegExp(`Visa ending in ${travel.last4}`))
  assert.match(text, /Frozen · \$0\.00 balance · no limits</)
})

test('the page warns that webhook:write lets an app read every event', async () => {
  const attempt = await startAuthorization(agent, { scope: SCOPE })
  const { text } = await openConsent(new Browser(url), attempt.url, holder)
  assert.match(text, /The app can read every event in your account/)
})

test('a custom scheme is shown as an app on this device, never as a host', async () => {
  const app = await registerAgent(url, { redirect_uris: ['cursor://bank.example/oauth/callback'] })
  const browser = new Browser(url)
  const attempt = await startAuthorization(app)
  const sign_in = await browser.open(attempt.url)
  const { email } = holder
  const consent = await browser.submit(sign_in, 'sign_in', { email, password: PASSWORD })
  for (const { text } of [sign_in, consent]) {
    assert.match(text, /an app on this device/)
    assert.doesNotMatch(text, /bank\.example/)
  }
})

test('a form with an error keeps the checked and unchecked boxes', async () => {
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: SCOPE })
  const page = await openConsent(browser, attempt.url, holder)
  const again = await browser.submit(page, 'allow', { scope: 'card:read', cards: 'some' })
  assert.match(again.text, /value="card:read" checked/)
  assert.doesNotMatch(again.text, /value="card:control" checked/)
})

const chrome = await startBrowser()

test('in a browser, checking a card selects "Only these cards"', {
  skip: chrome === null && NO_BROWSER,
}, async () => {
  assert(chrome !== null)
  const { page, context, complaints } = await visitOf(chrome, { url, width: 520 })
  const attempt = await startAuthorization(agent, { scope: scope_names.join(' ') })
  await page.goto(attempt.url)
  await page.getByLabel('Email').fill(holder.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  const all = page.getByLabel('All current and future cards')
  const only = page.getByLabel('Only these cards')
  const card = page.getByLabel(/Groceries/)
  assert(await all.isChecked())
  assert.equal(await card.isVisible(), false, 'the list would not matter')
  // A tick of the hidden list, as a browser extension could make it.
  await card.dispatchEvent('click')
  assert(await only.isChecked(), 'the tick chose "Only these cards"')
  assert(await card.isVisible())
  await all.check()
  assert.equal(await card.isChecked(), false, '"All" takes the ticks away')
  assert.equal(await card.isVisible(), false)
  await only.check()
  await card.check()
  await takeScreenshot(page, 'consent')

  const redirect = page.waitForRequest(/127\.0\.0\.1:9\/callback/)
  await page.getByRole('button', { name: 'Allow' }).click()
  const callback = new URL((await redirect).url())
  const { access_token } = await exchange(agent, attempt, callback)
  const caller = await service.runtime.credentials.callerOf(access_token, 'mcp')
  assert.deepEqual(caller.card_ids, [groceries.id])
  assert.deepEqual(
    complaints.filter((text) => !text.includes('ERR_')),
    [],
  )
  await context.close()
})
