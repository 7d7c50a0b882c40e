import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import type { Page } from '#test/packages/playwright.ts'
import { registerAgent, startAgentService, startAuthorization } from '#test/support/agent.ts'
import { issueCard } from '#test/support/cards.ts'
import { everyPage, NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { turnOnTwoFactor } from '#test/support/second_factor.ts'

const browser = await startBrowser()
const service = browser === null ? null : await startAgentService()
const options = { skip: browser === null && NO_BROWSER }

function requireBrowser() {
  assert(browser !== null && service !== null)
  return { browser, url: service.url, clock: service.runtime.clock }
}

const isShown = (page: Page, title: string) =>
  page.getByRole('heading', { level: 1, name: title }).waitFor()

/** Every page that the docs link to from their start page. */
async function docsPaths(url: string): Promise<string[]> {
  const start = await (await fetch(`${url}/docs`)).text()
  const paths = [...start.matchAll(/href="(\/docs\/[\w/-]+)["#]/g)].map(([, path = '']) => path)
  return [...new Set(paths)]
}

test(
  'all docs pages fit, log no errors and are accessible, on phone and desktop, light and dark',
  options,
  async () => {
    const { browser, url } = requireBrowser()
    const paths = await docsPaths(url)
    assert.ok(paths.length > 35, paths.join(' '))
    const named = paths.map((path) => [path.slice(1).replaceAll('/', '_'), path] as const)
    const pages = [['docs', '/docs'], ['docs_search', '/docs/search?q=card'], ...named] as const
    await everyPage(
      browser,
      { url },
      pages.map(([name, path]) => ({
        name,
        path,
        ready: (page: Page) => page.getByRole('heading', { level: 1 }).waitFor(),
      })),
    )
  },
)

test('docs search works from the keyboard: slash, a word, down, enter', options, async () => {
  const { browser, url } = requireBrowser()
  const { page, context, complaints } = await visitOf(browser, { url })
  await page.goto('/docs')
  await page.keyboard.press('/')
  await page.keyboard.type('freeze_c')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/api/cards#freeze_card')
  await page.keyboard.press('/')
  await page.keyboard.type('zzzz')
  await page.keyboard.press('Enter')
  await isShown(page, 'No results for “zzzz”')
  assert.deepEqual(complaints, [])
  await context.close()
})

test('examples are tabs that remember the language, and code can be copied', options, async () => {
  const { browser, url } = requireBrowser()
  const { page, context, complaints } = await visitOf(browser, { url })
  await page.goto('/docs/api/cards#freeze_card')
  const entry = page.locator('section[aria-labelledby=freeze_card]')
  await entry.getByRole('tab', { name: 'CLI' }).click()
  const panel = entry.getByRole('tabpanel', { name: 'CLI' })
  await panel.locator('pre').hover()
  await panel.getByRole('button', { name: 'Copy' }).click()
  await panel.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  assert.match(String(copied), /^florin freeze_card card_\w+$/)
  await page.goto('/docs/api/balance')
  await page.getByRole('tabpanel', { name: 'CLI' }).first().waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('search results fit on the screen of a phone, with the words marked', options, async () => {
  const { browser, url } = requireBrowser()
  const { page, context } = await visitOf(browser, { url, width: 390 })
  await page.goto('/docs')
  await page.getByRole('combobox').fill('verify webhook')
  const list = page.getByRole('listbox')
  await list.getByRole('option').first().waitFor()
  const { x, width } = (await list.boundingBox()) ?? assert.fail('it is shown')
  assert(x >= 0 && x + width <= 390, `from ${x} to ${x + width}`)
  assert.match(await list.locator('mark').first().innerText(), /^verify/i)
  await context.close()
})

test('the chosen theme is remembered', options, async () => {
  const { browser, url } = requireBrowser()
  const { page, context } = await visitOf(browser, { url })
  const theme = () => page.evaluate('document.documentElement.dataset.theme ?? "system"')
  await page.goto('/docs')
  const button = page.getByRole('button', { name: /^Theme/ })
  await button.click()
  await button.click()
  assert.equal(await theme(), 'dark')
  await page.goto('/docs/errors')
  assert.equal(await theme(), 'dark')
  await context.close()
})

test('the docs can be read and searched without JavaScript', options, async () => {
  const { browser, url } = requireBrowser()
  const context = await browser.newContext({ baseURL: url, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto('/docs')
  for (const name of Object.keys(operations)) {
    assert.ok((await page.getByRole('link', { name, exact: true }).count()) > 0, name)
  }
  await page.getByRole('combobox').fill('load_card')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'load_card operation' }).first().click()
  await isShown(page, 'Cards')
  await context.close()
})

async function signIn(page: Page, { email }: Person): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
}

test(
  'the consent pages fit, log no errors and are accessible, light and dark',
  options,
  async () => {
    const { browser, url, clock } = requireBrowser()
    const agent = await registerAgent(url, { client_name: 'Shopping assistant' })
    const scope = 'card:read transaction:read card:control card:reveal_pan withdrawal:create'
    const path = (await startAuthorization(agent, { scope })).url
    const holder = await openAccount(url)
    await issueCard(url, holder.bearer, { name: 'Groceries' })
    const careful = await openAccount(url)
    await turnOnTwoFactor(url, careful.bearer, clock)
    const fresh = async (page: Page) => {
      await page.context().clearCookies()
      await page.goto(path)
    }
    await everyPage(browser, { url }, [
      { name: 'oauth_sign_in', path, ready: (page) => isShown(page, 'Sign in') },
      {
        name: 'oauth_code',
        path,
        ready: async (page) => {
          await fresh(page)
          await signIn(page, careful)
          await isShown(page, 'Two-factor authentication')
        },
      },
      {
        name: 'oauth_consent',
        path,
        ready: async (page) => {
          await fresh(page)
          await signIn(page, holder)
          await isShown(page, 'Allow Shopping assistant to access your account?')
        },
      },
    ])
  },
)
