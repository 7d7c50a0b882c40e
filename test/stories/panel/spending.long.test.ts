import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { NO_BROWSER, startBrowser, takeScreenshot, visitOf } from '#test/support/panel_page.ts'
import { authorize, follow, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const spender = await openSpender(service, { usd: 200, name: 'Travel' })
for (const [merchant_name, mcc, amount] of [
  ['Lufthansa', '3008', 90],
  ['Corner Books', '5942', 12.5],
] as const) {
  const { id } = await authorize(url, spender, { amount, merchant_name, mcc })
  await follow(url, spender, { id, verb: 'capture' })
}

test('every figure of the Spending page leads to its purchases', { skip }, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url, bearer: spender.bearer })
  const rows = page.getByRole('table', { name: 'Transactions' }).locator('tbody tr')
  for (const [link, shown, filter, chosen] of [
    [/Travel and lodging/, ['Lufthansa'], 'Category', 'Travel and lodging'],
    [/Corner Books/, ['Corner Books'], 'Type', 'Captures and refunds'],
    [/^Travel ·· \d{4}/, ['Corner Books', 'Lufthansa'], 'Card', 'Travel ·· '],
    [/United States/, ['Corner Books', 'Lufthansa'], 'Country', 'United States'],
    [/: \$102\.50, 2 purchases/, ['Corner Books', 'Lufthansa'], 'Date', 'Custom range'],
  ] as const) {
    await page.goto('/spending')
    await page.getByRole('link', { name: link }).click()
    await rows.nth(shown.length - 1).waitFor()
    const texts = (await rows.allInnerTexts()).map((text) => text.split('\n')[0]?.trim())
    assert.deepEqual(texts, shown)
    const selected = page.getByLabel(filter, { exact: true }).locator('option:checked')
    assert((await selected.innerText()).startsWith(chosen), 'the list says what it is filtered by')
  }
  assert.deepEqual(complaints, [])
})

test('a new purchase appears on the open Spending page', { skip }, async () => {
  if (browser === null) return
  const { page } = await visitOf(browser, { url, bearer: spender.bearer })
  await page.goto('/spending')
  await page.getByText('$102.50').first().waitFor()
  const { id } = await authorize(url, spender, { amount: 1, merchant_name: 'Late Bakery' })
  await follow(url, spender, { id, verb: 'capture' })
  await page.getByRole('link', { name: /Late Bakery/ }).waitFor()
  await page.getByText('$103.50').first().waitFor()
})

test('a statement is downloaded as CSV and PDF', { skip }, async () => {
  if (browser === null) return
  const { page } = await visitOf(browser, { url, bearer: spender.bearer })
  await page.goto('/statements')
  for (const [format, head] of [
    ['CSV', 'date,type,'],
    ['PDF', '%PDF-1.4'],
  ] as const) {
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: `Download ${format}` }).click()
    const download = await waiting
    assert.match(download.suggestedFilename(), /^statement-\d{4}-\d{2}\.(csv|pdf)$/)
    const text = await readFile(await download.path(), 'latin1')
    assert.ok(text.startsWith(head))
  }
})

test('an opened statement shows every kind of movement from opening to closing', {
  skip,
}, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url, bearer: spender.bearer })
  await page.goto('/statements')
  await page.getByRole('button', { name: /^Amounts of / }).click()
  const closing = page.getByRole('definition').last()
  await closing.waitFor()
  const terms = await page.getByRole('term').allInnerTexts()
  const amounts = await page.getByRole('definition').allInnerTexts()
  // The test's money was added by a correction, not by a deposit.
  assert.deepEqual(terms, ['Opening balance', 'Purchases', 'Other', 'Closing balance'])
  const cents = amounts.map((text) =>
    Math.round(Number(text.replace('−', '-').replace(/[$,+]/g, '')) * 100),
  )
  const kinds = cents.slice(0, -1).reduce((sum, each) => sum + each, 0)
  assert.equal(kinds, cents.at(-1), amounts.join(' '))
  assert.deepEqual(complaints, [])
})

test('a card shows its last 30 days and its limits; the balance chart shows values on hover', {
  skip,
}, async () => {
  if (browser === null) return
  const card = { usd: 80, name: 'Gauged', limits: { daily_usd: 50, monthly_usd: 200 } }
  const buyer = await openSpender(service, card)
  const { id } = await authorize(url, buyer, { amount: 20, merchant_name: 'Corner Books' })
  await follow(url, buyer, { id, verb: 'capture' })
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/cards')
  await page.getByRole('meter', { name: 'This month' }).waitFor()
  await page.getByText('$20.00 of $200.00').waitFor()
  await takeScreenshot(page, 'cards_gauges')
  await page.goto(`/cards/${buyer.card.id}`)
  await page.getByRole('img', { name: 'Spent in the last 30 days: $20.00' }).waitFor()
  await page.getByText('$20.00 of $50.00').waitFor()
  await takeScreenshot(page, 'card_sparkline')
  await page.goto('/')
  await page.getByRole('img', { name: /Balance over the last 30 days/ }).hover()
  await page.getByText(/^\$\d+\.\d\d · [A-Z][a-z]{2} \d/).waitFor()
  await takeScreenshot(page, 'balance_hover')
  assert.deepEqual(complaints, [])
})
