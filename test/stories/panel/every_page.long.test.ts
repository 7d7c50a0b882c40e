import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { startAgentService } from '#test/support/agent.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { everyPage, NO_BROWSER, type PanelPage, startBrowser } from '#test/support/panel_page.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const heading = (name: string | RegExp) => (page: Page) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

const holder = await openHolder(service, 300)
const { bearer } = holder
const card = await issueCard(url, bearer, {
  name: 'Cloud bills',
  load_usd: 80,
  limits: { per_transaction_usd: 40, daily_usd: 50, monthly_usd: 200 },
  mcc: { deny: ['7995', '5811-5814'] },
  geo: { allow: ['DE', 'US'] },
})
const posted = await issueCard(url, bearer, {
  type: 'physical',
  shipping: {
    name: 'Ada Lovelace',
    line1: '12 St James Square',
    city: 'London',
    postal_code: 'SW1Y 4JH',
    country: 'GB',
  },
})
for (const amount of [12.5, 7.25, 70]) {
  await send(url, 'POST', `/sandbox/v1/cards/${card.id}/authorize`, { bearer, body: { amount } })
}
const topup = await send(url, 'POST', '/v1/topups', { bearer, body: { amount_usd: 75 } })
await send(url, 'PATCH', '/v1/accounts/me', {
  bearer,
  body: { notifications: { low_balance_threshold_usd: 300 } },
})

const tab = (name: string, shown: string) => async (page: Page) => {
  await page.getByRole('tab', { name }).click()
  await page.getByRole('heading', { name: shown }).waitFor()
}

const within: readonly PanelPage[] = [
  {
    name: 'overview',
    path: '/',
    ready: (page) => page.getByRole('img', { name: /Balance over the last 30 days/ }).waitFor(),
  },
  {
    name: 'cards',
    path: '/cards',
    ready: (page) => page.getByRole('link', { name: 'Cloud bills' }).waitFor(),
  },
  {
    name: 'issue_card',
    path: '/cards?issue',
    ready: async (page) => {
      await page.getByLabel('Type').selectOption('physical')
      await page.getByLabel('Recipient').waitFor()
    },
  },
  {
    name: 'card',
    path: `/cards/${card.id}`,
    ready: (page) => page.getByRole('table').waitFor(),
  },
  {
    name: 'card_rename',
    path: `/cards/${card.id}`,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Rename card' }).click()
      await page.getByLabel('Card name').waitFor()
    },
  },
  { name: 'card_rules', path: `/cards/${card.id}`, ready: tab('Limits and rules', 'Countries') },
  {
    name: 'card_rules_dialog',
    path: `/cards/${card.id}`,
    ready: async (page) => {
      await tab('Limits and rules', 'Countries')(page)
      await page.getByRole('button', { name: 'Edit merchant categories' }).click()
      await page.getByLabel('Add blocked merchant categories').fill('casino')
      await page.getByText('Government online casinos').waitFor()
    },
  },
  { name: 'card_posted', path: `/cards/${posted.id}`, ready: heading(/Card \d{4}/) },
  { name: 'topups', path: '/topups', ready: (page) => page.getByRole('table').waitFor() },
  {
    name: 'topup',
    path: `/topups/${topup.body.id}`,
    ready: (page) => page.getByRole('img', { name: 'Payment QR code' }).waitFor(),
  },
  {
    name: 'sandbox_drawer',
    path: '/',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Simulate activity' }).click()
      await page.getByRole('button', { name: 'Make purchase' }).waitFor()
    },
  },
  {
    name: 'command_palette',
    path: '/',
    ready: async (page) => {
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('cloud')
      await page.getByRole('option', { name: /Cloud bills/ }).waitFor()
    },
  },
  {
    name: 'not_found',
    path: '/cards/none/at/all',
    ready: (page) => page.getByText('Page not found').waitFor(),
  },
]

test('every page fits, logs no errors and is accessible, at both widths and in both themes', {
  skip,
}, async () => {
  if (browser !== null) await everyPage(browser, { url, bearer }, within)
})

test('signed-out pages and the empty pages of a new account fit and are accessible', {
  skip,
}, async () => {
  if (browser === null) return
  await everyPage(browser, { url }, [
    { name: 'sign_in', path: '/sign_in', ready: heading('Sign in') },
    { name: 'sign_up', path: '/sign_up', ready: heading('Create account') },
    { name: 'forgot_password', path: '/forgot_password', ready: heading('Reset your password') },
    {
      name: 'forgot_password_sent',
      path: '/forgot_password',
      ready: async (page) => {
        await page.getByLabel('Email').fill('ada@example.com')
        await page.getByRole('button', { name: 'Send reset link' }).click()
        await heading('Check your email')(page)
      },
    },
    {
      name: 'reset_password',
      path: '/reset_password?token=x',
      ready: heading('Choose a new password'),
    },
    { name: 'operator_sign_in', path: '/operator', ready: heading('Operator console') },
  ])
  const fresh = await openHolder(service)
  await everyPage(browser, { url, bearer: fresh.bearer }, [
    { name: 'overview_new', path: '/', ready: (page) => page.getByText('No cards yet').waitFor() },
    {
      name: 'cards_new',
      path: '/cards',
      ready: (page) => page.getByText('No cards', { exact: true }).waitFor(),
    },
    {
      name: 'topups_new',
      path: '/topups',
      ready: (page) => page.getByText('No top-ups yet').waitFor(),
    },
  ])
})
