import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { decline_messages } from '#contract/decline.ts'
import type { Page } from '#test/packages/playwright.ts'
import { issueCard } from '#test/support/cards.ts'
import { fileDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { authorize, follow } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup } from '#test/support/topups.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

/** The lines of the CSV file of the list on the page. */
async function exportedFrom(page: Page): Promise<string[]> {
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const text = await readFile(await (await waiting).path(), 'utf8')
  return text.trimEnd().split('\n')
}

test('a purchase has a timeline from authorization to refund, and its ISO 8583 message', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  await follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 15 })
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto(`/transactions/${buyer.capture.id}`)
  const steps = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
  await steps.filter({ hasText: 'Refunded' }).waitFor()
  const titles = (await steps.allInnerTexts()).map((text) => text.split('\n')[0])
  assert.deepEqual(titles, ['Authorized', 'Captured', 'Refunded'])
  await steps.filter({ hasText: 'Authorized' }).getByRole('link', { name: 'View' }).click()
  await page.getByRole('button', { name: 'Show' }).click()
  const message = page.getByRole('table', { name: 'Request data elements' })
  await message.getByText('Merchant name and location').waitFor()
  const pan = await message.getByRole('row', { name: /Primary account number/ }).innerText()
  assert.match(pan, /\d{6}\*+\d{4}/)
  assert.deepEqual(complaints, [])
})

test('a declined purchase shows the reason and the next step', { skip }, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const decline = await authorize(url, buyer, { amount: 900, merchant_name: 'Too Much' })
  const { page } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto(`/transactions/${decline.id}`)
  const why = page.getByRole('region', { name: 'Decline reason' })
  await why.getByText(decline_messages.insufficient_funds).waitFor()
  await why.getByText('Add money to the card and try again.').waitFor()
})

test('a purchase is one row with its state, which opens to show its events', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/transactions')
  const rows = page.getByRole('table', { name: 'Transactions' }).locator('tbody tr')
  await rows.filter({ hasText: 'Completed' }).waitFor()
  assert.equal(await rows.count(), 1, 'the authorization and its capture are one row')
  await follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 15 })
  await rows.filter({ hasText: 'Partially refunded' }).waitFor()
  assert.match(await rows.first().innerText(), /\+\$15\.00 back/)
  await page.getByRole('button', { name: 'Events of Corner Books' }).click()
  const steps = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
  await steps.nth(2).waitFor()
  const titles = (await steps.allInnerTexts()).map((text) => text.split('\n')[0])
  assert.deepEqual(titles, ['Authorized', 'Captured', 'Refunded'])
  await page.getByRole('link', { name: 'Details and ISO 8583 message' }).waitFor()
  await page.getByLabel('Status').selectOption('Pending')
  await page.getByText('No results').waitFor()
  await page.getByLabel('Status').selectOption('Refunded')
  await rows.first().waitFor()
  await page.getByLabel('Type').selectOption('Captures and refunds')
  await rows.nth(1).waitFor()
  assert.deepEqual(complaints, [])
})

test('filters are kept in the URL and can be cleared', { skip }, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service, 10, 500)
  for (let count = 0; count < 26; count += 1) {
    await authorize(url, buyer, { amount: 1, merchant_name: 'Many Coffees', mcc: '5814' })
  }
  const { page } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/transactions')
  const rows = page.getByRole('table', { name: 'Transactions' }).locator('tbody tr')
  await page.getByRole('button', { name: 'Load more' }).click()
  await rows.nth(26).waitFor()
  assert.equal(await rows.count(), 27, 'one row per purchase')
  await rows.nth(26).click()
  await page.getByRole('heading', { name: 'Corner Books' }).waitFor()
  assert.equal(await page.evaluate('scrollY'), 0, 'a new page starts at the top')
  await page.goBack()
  await rows.first().waitFor()

  // More than one page of the API, and a name that a spreadsheet would run.
  await authorize(url, buyer, { amount: 2, merchant_name: '=Formula' })
  for (let count = 0; count < 80; count += 1) {
    await authorize(url, buyer, { amount: 1, merchant_name: 'Many Coffees', mcc: '5814' })
  }
  const exported = await exportedFrom(page)
  assert.equal(exported.length, 1 + 27 + 81)
  assert.match(exported[0] ?? '', /^created_at,merchant_name,/)
  assert.equal(exported.filter((line) => line.includes(",'=Formula,")).length, 1)

  await page.getByLabel('Search merchants').fill('books')
  await page.waitForURL(/merchant=books/)
  assert.equal((await exportedFrom(page)).length, 1 + 1, 'only the filtered purchases')
  await page.getByLabel('Type').selectOption('Captures')
  await rows.nth(1).waitFor({ state: 'detached' })
  assert.match(await rows.first().innerText(), /Corner Books/)
  await page.reload()
  await rows.first().waitFor()
  assert.equal(await rows.count(), 1, 'the URL keeps the filters')
  await page.getByLabel('Category').selectOption('5814')
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await rows.nth(24).waitFor()
})

test('activity filters are kept in the URL, also after going back', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const spare = await issueCard(url, buyer.key, { name: 'Spare' })
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/activity')
  const rows = page.getByRole('table', { name: 'Activity' }).locator('tbody tr')
  const shown = (text: string) => rows.filter({ hasText: text })
  await shown('Card loaded').waitFor()
  await page.getByLabel('Type').selectOption('Spending')
  await shown('Card loaded').waitFor({ state: 'detached' })
  await shown('Transaction captured').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('type'), 'spend')

  await shown('Transaction captured').getByRole('link').click()
  await page.getByRole('heading', { name: 'Corner Books' }).waitFor()
  await page.goBack()
  await shown('Transaction captured').waitFor()
  assert.equal(await page.getByLabel('Type').inputValue(), 'spend')
  // Live updates are filtered too.
  await authorize(url, buyer, { amount: 3, merchant_name: 'Late Bakery' })
  await shown('Late Bakery').waitFor()

  await page.getByLabel('Card').selectOption(spare.id)
  await page.getByText('Try changing or clearing your filters.').waitFor()
  await page.getByLabel('Type').selectOption('Cards')
  await shown('Card issued').waitFor()
  await page.reload()
  await shown('Card issued').waitFor()
  assert.equal(await rows.count(), 1, 'the URL keeps both filters')
  await page.getByRole('button', { name: 'Clear' }).click()
  await shown('Card loaded').waitFor()
  assert.equal(new URL(page.url()).search, '')
  assert.deepEqual(complaints, [])
})

test('every list is exported with its filters, in pages with progress that can be cancelled', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service, 10, 500)
  await issueCard(url, buyer.key, { name: '@SUM(A1)' })
  for (const usd of [20, 30]) await awaitedTopup(url, buyer.bearer, usd)
  await fileDispute(url, buyer)
  const ticket = { subject: 'Where is it?', message: 'It has not come.', category: 'other' }
  await send(url, 'POST', '/v1/tickets', { bearer: buyer.key, body: ticket })
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  const lists: [path: string, header: RegExp, rows: number][] = [
    ['/cards', /^created_at,name,brand,/, 2],
    ['/topups', /^created_at,status,amount_usd,/, 2],
    ['/topups?status=completed', /^created_at,status,amount_usd,/, 0],
    ['/withdrawals', /^created_at,status,amount_usd,fee_usd,/, 0],
    ['/disputes', /^created_at,status,outcome,/, 1],
    ['/disputes?status=closed', /^created_at,status,outcome,/, 0],
    ['/tickets', /^created_at,updated_at,status,category,subject,/, 1],
    ['/tickets?status=closed', /^created_at,updated_at,status,category,subject,/, 0],
    ['/approvals', /^created_at,status,summary,amount_usd,/, 0],
    ['/developers/audit?action=file_dispute', /^created_at,action,result,actor_type,/, 1],
  ]
  for (const [path, header, rows] of lists) {
    await page.goto(path)
    const [titles = '', ...lines] = await exportedFrom(page)
    assert.match(titles, header, path)
    assert.equal(lines.length, rows, path)
    if (path === '/cards') assert(lines.some((line) => line.includes(",'@SUM(A1),")))
  }
  await page.goto('/activity')
  assert.match((await exportedFrom(page))[0] ?? '', /^created_at,event,severity,message,/)

  for (let count = 0; count < 110; count += 1) await authorize(url, buyer, { amount: 1 })
  await page.goto('/transactions')
  await page.getByRole('row').nth(5).waitFor()
  // The second page never arrives, so the progress stays on screen.
  await page.route(/\/v1\/transactions\?.*limit=100.*cursor=/, () => undefined)
  await page.getByRole('button', { name: 'Export CSV' }).click()
  await page.getByText(/^Exporting, \d+ rows…$/).waitFor()
  await page.getByText(/^Exporting, (9\d|100) rows…$/).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Export CSV' }).waitFor()
  assert.deepEqual(complaints, [])
})
