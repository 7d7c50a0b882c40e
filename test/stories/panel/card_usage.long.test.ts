import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decline_messages } from '#contract/decline.ts'
import type { Page } from '#test/packages/playwright.ts'
import { getCard, issueCard, openHolder } from '#test/support/cards.ts'
import { everyPage, NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('a card is issued for one merchant until a time, and its page says so', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/cards?issue')
  await page.getByLabel('Works for').selectOption('One merchant only')
  await page.getByLabel('Merchant name').fill('Netflix')
  await page.getByLabel('Valid until').fill('2027-05-04T10:30')
  await page.getByRole('button', { name: 'Issue card' }).last().click()
  await page.getByText('This card only works at Netflix.').waitFor()
  await page.getByText(/^Valid until/).waitFor()
  const id = page.url().split('/').at(-1) ?? ''
  const card = await getCard(url, bearer, id)
  assert.deepEqual(
    [card.usage, card.merchant_lock],
    ['merchant_locked', { id: null, name: 'Netflix' }],
  )
  const local = await page.evaluate('new Date("2027-05-04T10:30").toISOString()')
  assert.equal(card.valid_until, local)
  assert.deepEqual(complaints, [])
})

test('a card is issued with merchant categories and countries', { skip }, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/cards?issue')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Merchant categories (optional)').click()
  await dialog.getByLabel('Add blocked merchant categories').fill('betting')
  await dialog.getByRole('button', { name: /Betting and casinos/ }).click()
  await dialog.getByText('Countries (optional)').click()
  await dialog.getByLabel('Allow only selected countries').click()
  await dialog.getByLabel('Add allowed countries').fill('portugal')
  await dialog.getByRole('button', { name: /Portugal/ }).click()
  await dialog.getByRole('button', { name: 'Issue card' }).click()
  await page.waitForURL('**/cards/card_*')
  const card = await getCard(url, bearer, page.url().split('/').at(-1) ?? '')
  assert.deepEqual(card.mcc, { allow: null, deny: ['7995'] })
  assert.deepEqual(card.geo, { allow: ['PT'], deny: null })
  assert.deepEqual(complaints, [])
})

test('a date that is too close is refused beside its field', { skip }, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto('/cards?issue')
  await page.getByLabel('Valid until').fill('2020-01-01T00:00')
  await page.getByRole('button', { name: 'Issue card' }).last().click()
  await page.getByText('must be 1 hour to 5 years from now').first().waitFor()
})

test('cards of limited usage and their declines explain themselves, in both themes and widths', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer, key } = await openHolder(service, 100)
  const once = await issueCard(url, key, { name: 'One book', load_usd: 20, usage: 'single_use' })
  await authorize(url, { key, card: once }, { amount: 12, merchant_name: 'Corner Books' })
  const used = await authorize(url, { key, card: once }, { amount: 1, merchant_name: 'Cafe' })
  const locked = await issueCard(url, key, {
    ...{ name: 'Streaming', load_usd: 20, usage: 'merchant_locked' },
    valid_until: new Date(Date.now() + 40 * 86_400_000).toISOString(),
  })
  await authorize(url, { key, card: locked }, { amount: 9, merchant_name: 'Netflix' })
  const other = await authorize(url, { key, card: locked }, { amount: 9, merchant_name: 'Hulu' })
  const shows = (path: string, ...texts: (string | RegExp)[]) => ({
    path,
    ready: async (page: Page) => {
      for (const text of texts) await page.getByText(text).first().waitFor()
    },
  })
  await everyPage(browser, { url, bearer }, [
    {
      name: 'issue_locked_card',
      path: '/cards?issue',
      ready: async (page) => {
        await page.getByLabel('Works for').selectOption('One merchant only')
        await page.getByLabel('Merchant name').waitFor()
      },
    },
    {
      name: 'used_card',
      ...shows(`/cards/${once.id}`, 'This single-use card made its purchase and was canceled.'),
    },
    {
      name: 'locked_card',
      ...shows(`/cards/${locked.id}`, 'This card only works at Netflix.', /^Valid until/),
    },
    {
      name: 'declined_used_card',
      ...shows(`/transactions/${used.id}`, decline_messages.card_used, /Issue a new card/),
    },
    {
      name: 'declined_other_merchant',
      ...shows(
        `/transactions/${other.id}`,
        decline_messages.merchant_blocked,
        'This card only works at Netflix.',
      ),
    },
  ])
})
