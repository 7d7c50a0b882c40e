import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { initialize, rpc } from '#test/support/mcp.ts'
import { everyPage, NO_BROWSER, type PanelPage, startBrowser } from '#test/support/panel_page.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'

const service = await startAgentService()
const { url } = service
const { clock } = service.runtime
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

const pressInDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** Waits until the field is marked as refused, and checks that its sentence is visible once. */
async function requireRefusal(page: Page, label: string, sentence: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true })
  await field.and(page.locator('[aria-invalid=true]')).waitFor()
  await field.and(page.locator(':focus')).waitFor()
  const note = await field.getAttribute('aria-describedby')
  assert.equal(await page.locator(`[id="${note}"]`).innerText(), sentence)
  const shown = page.locator('p:not(.sr-only)').filter({ hasText: sentence })
  assert.equal(await shown.count(), 1, `${sentence} is visible once`)
}

async function fill(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(value)
  }
}

test('a refused field is marked in every form, and its refusal is visible once', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const card = await issueCard(url, bearer, { name: 'Groceries', load_usd: 20 })
  const refused = (name: string, path: string, ready: PanelPage['ready']): PanelPage => ({
    name,
    path,
    ready,
    is_refused: true,
  })
  await everyPage(browser, { url, bearer }, [
    refused('load_refused', `/cards/${card.id}`, async (page) => {
      await press(page, 'Load')
      await fill(page, { Amount: '5000' })
      await pressInDialog(page, 'Load')
      await requireRefusal(page, 'Amount', 'Your balance is too low.')
    }),
    refused('issue_refused', '/cards?issue', async (page) => {
      await fill(page, { 'Load amount (optional)': '5000' })
      await pressInDialog(page, 'Issue card')
      await requireRefusal(page, 'Load amount (optional)', 'Your balance is too low.')
    }),
    refused('topup_refused', '/topups', async (page) => {
      await fill(page, { Amount: '0.5' })
      await press(page, 'Get deposit address')
      const sentence = 'A top-up must be between $5.00 and $50,000.00.'
      await requireRefusal(page, 'Amount', sentence)
    }),
    refused('withdraw_refused', '/withdrawals?withdraw', async (page) => {
      await fill(page, { Amount: '30', 'Wallet address': 'T123' })
      await press(page, 'Continue')
      await press(page, 'Send $30.00')
      const sentence = 'This is not a valid TRON address. Check it for typos.'
      await requireRefusal(page, 'Wallet address', sentence)
    }),
    refused('withdraw_too_much', '/withdrawals?withdraw', async (page) => {
      await fill(page, { Amount: '5000', 'Wallet address': 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' })
      await press(page, 'Continue')
      await requireRefusal(page, 'Amount', 'Your balance is too low.')
    }),
    refused('password_refused', '/security', async (page) => {
      await fill(page, { 'Current password': 'not the password', 'New password': 'nine blue cups' })
      await press(page, 'Change password')
      await requireRefusal(page, 'Current password', 'Incorrect password.')
    }),
    refused('email_refused', '/settings', async (page) => {
      const { email } = await openAccount(url)
      await fill(page, { 'New email': email, 'Confirm with your password': PASSWORD })
      await press(page, 'Change email')
      const sentence = 'Another account has this email.'
      await requireRefusal(page, 'New email', sentence)
    }),
    refused('reveal_refused', `/cards/${card.id}`, async (page) => {
      await press(page, 'Reveal card number')
      await fill(page, { Password: 'not the password' })
      await press(page, 'Reveal')
      await requireRefusal(page, 'Password', 'Incorrect password.')
    }),
  ])
})

test('the dialogs of two-factor authentication fit and are accessible', { skip }, async () => {
  if (browser === null) return
  const fresh = await openAccount(url)
  await everyPage(browser, { url, bearer: fresh.bearer }, [
    {
      name: 'recovery_codes',
      path: '/security',
      ready: async (page) => {
        await press(page, 'Turn on')
        const secret = await page.getByRole('dialog').locator('code').innerText()
        await fill(page, { 'Authentication code': codeOf(secret, clock) })
        await pressInDialog(page, 'Turn on')
        await page.getByRole('list', { name: 'Recovery codes' }).waitFor()
      },
    },
  ])
  const person = await openAccount(url)
  await turnOnTwoFactor(url, person.bearer, clock)
  await everyPage(browser, { url, bearer: person.bearer }, [
    {
      name: 'turn_off_two_factor',
      path: '/security',
      ready: async (page) => {
        await press(page, 'Turn off')
        await page.getByRole('dialog').getByLabel('Authentication code').waitFor()
      },
    },
    {
      name: 'turn_off_refused',
      path: '/security',
      is_refused: true,
      ready: async (page) => {
        await press(page, 'Turn off')
        await fill(page, { Password: 'not the password', 'Authentication code': '000000' })
        await pressInDialog(page, 'Turn off')
        await requireRefusal(page, 'Password', 'Incorrect password.')
      },
    },
    {
      name: 'create_key_with_code',
      path: '/developers',
      ready: async (page) => {
        await press(page, 'Create API key')
        await page.getByRole('dialog').getByLabel('Authentication code').waitFor()
      },
    },
  ])
})

const signIn = async (page: Page, { email }: Person, button: string) => {
  await fill(page, { Email: email, Password: PASSWORD })
  await press(page, button)
}

test('signed-out pages that follow a form fit and are accessible', { skip }, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const wrong_code = 'The code is incorrect or was already used. Wait for the next one.'
  await everyPage(browser, { url }, [
    {
      name: 'sign_in_code',
      path: '/sign_in',
      is_refused: true,
      ready: async (page) => {
        await signIn(page, person, 'Sign in')
        await page.getByLabel('Authentication code').waitFor()
      },
    },
    {
      name: 'sign_in_code_refused',
      path: '/sign_in',
      is_refused: true,
      ready: async (page) => {
        await signIn(page, person, 'Sign in')
        await fill(page, { 'Authentication code': wrongCodeOf(secret, clock) })
        await press(page, 'Continue')
        await requireRefusal(page, 'Authentication code', wrong_code)
      },
    },
    {
      name: 'sign_up_refused',
      path: '/sign_up',
      is_refused: true,
      ready: async (page) => {
        await fill(page, { Email: 'new@example.com', Password: 'short' })
        await press(page, 'Create account')
        const sentence = 'The password must have at least 8 characters.'
        await requireRefusal(page, 'Password', sentence)
      },
    },
    {
      name: 'reset_link_used',
      path: '/reset_password?token=used',
      is_refused: true,
      ready: async (page) => {
        await fill(page, { 'New password': 'seven quiet lamps at noon' })
        await press(page, 'Change password')
        await page.getByRole('link', { name: 'Request a new link' }).waitFor()
      },
    },
    {
      name: 'reset_link_incomplete',
      path: '/reset_password',
      ready: (page) => page.getByText('It’s incomplete.').waitFor(),
    },
    {
      name: 'forgot_password_sandbox',
      path: '/forgot_password',
      ready: async (page) => {
        await fill(page, { Email: person.email })
        await press(page, 'Send reset link')
        await page.getByText('florin sandbox inbox --json').waitFor()
      },
    },
  ])
})

/** The link that an app without the permission to load cards gets when it tries to. */
async function stepUpLink(holder: Person, card_id: string): Promise<string> {
  const agent = await registerAgent(url, { client_name: 'Shopper' })
  const scopes = ['card:read', 'system:read']
  const request = { scope: scopes.join(' '), scopes }
  const { access_token } = await authorize(agent, holder, request)
  const able = { elicitation: { form: {}, url: {} } }
  const headers = await initialize(url, access_token, '2025-11-25', able)
  const call = { name: 'load_card', arguments: { id: card_id, amount_usd: 60 } }
  const reply = await rpc(url, 'tools/call', call, { bearer: access_token, headers })
  return reply.body['error'].data.elicitations[0].url
}

test('the pages on which an owner allows an app to do more fit and are accessible', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 200)
  const { id } = await issueCard(url, holder.key, { name: 'Groceries' })
  const stranger = await openAccount(url)
  const [asked, allowed, strange] = [
    await stepUpLink(holder, id),
    await stepUpLink(holder, id),
    await stepUpLink(holder, id),
  ]
  // A page checked before has left a session in the same browser.
  const openAs = async (page: Page, link: string, person: Person) => {
    await page.context().clearCookies()
    await page.goto(link)
    await signIn(page, person, 'Continue')
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor()
  await everyPage(browser, { url }, [
    {
      name: 'step_up',
      path: '/sign_in',
      ready: async (page) => {
        await openAs(page, asked, holder)
        await heading(page, 'Allow Shopper to do more?')
      },
    },
    {
      name: 'step_up_allowed',
      path: '/sign_in',
      ready: async (page) => {
        await openAs(page, allowed, holder)
        await press(page, 'Allow')
        await heading(page, 'Shopper can now do this')
      },
    },
    {
      name: 'step_up_wrong_account',
      path: '/sign_in',
      is_refused: true,
      ready: async (page) => {
        await openAs(page, strange, stranger)
        await heading(page, 'This request belongs to another account')
      },
    },
  ])
})
