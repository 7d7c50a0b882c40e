import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { fileDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { WALLET } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

async function search(page: Page, text: string): Promise<void> {
  // The key is heard once the page is drawn.
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.keyboard.press('/')
  await page.getByRole('combobox').fill(text)
}

/** Types the text, goes down to the result and opens it, with the keyboard alone. */
async function openResult(page: Page, text: string, name: RegExp): Promise<void> {
  await search(page, text)
  const found = page.getByRole('option', { name }).first()
  await found.waitFor()
  for (let n = 0; (await found.getAttribute('aria-selected')) !== 'true'; n++) {
    assert(n < 60, `${name} is reached with the arrow keys`)
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
}

test('search finds every kind of object, documentation and actions, by keyboard', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const { bearer } = buyer
  const purchase = await authorize(url, buyer, { amount: 7.31, merchant_name: 'Zebra Books' })
  const dispute = await fileDispute(url, buyer)
  await fundTreasury(service.runtime.db, buyer.account_id, 100)
  const post = async (path: string, body: object) => {
    const reply = await send(url, 'POST', path, { bearer, body })
    assert.equal(reply.status, 201, reply.text)
    return String(reply.body.id)
  }
  const topup_id = await post('/v1/topups', { amount_usd: 123 })
  const withdrawal_id = await post('/v1/withdrawals', { amount_usd: 42, address: WALLET })
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const cases: [text: string, name: RegExp, path: string][] = [
    ['zebra', /Zebra Books · \$7\.31/, `/transactions/${purchase.id}`],
    ['7.31', /Zebra Books/, `/transactions/${purchase.id}`],
    [buyer.card.last4, new RegExp(`·· ${buyer.card.last4}`), `/cards/${buyer.card.id}`],
    ['top-up 123', /Top-up of \$123\.00/, `/topups/${topup_id}`],
    ['withdrawal $42', /Withdrawal of \$42\.00/, `/withdrawals/${withdrawal_id}`],
    ['dispute', /Open · /, `/disputes/${dispute.id}`],
    [withdrawal_id, /^Open wd_/, `/withdrawals/${withdrawal_id}`],
    ['issue a card', /Issue a card/, '/cards?issue'],
    ['verify webhook', /verify/i, '/docs/'],
  ]
  for (const [text, name, path] of cases) {
    await openResult(page, text, name)
    await page.waitForURL((at) => at.href.startsWith(url + path), { timeout: 10_000 })
    if (path.startsWith('/docs')) continue
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  }
  assert.deepEqual(complaints, [])
})

test('a search without a match says so', { skip }, async () => {
  if (browser === null) return
  const { bearer } = await openBuyer(service)
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await search(page, 'xqzwv')
  await page.getByText('No results').waitFor()
})

test('a header sorts its column, and says so when rows are not loaded yet', { skip }, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  for (let n = 1; n <= 30; n++) {
    await authorize(url, buyer, { amount: n / 100, merchant_name: `Shop ${n}` })
  }
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/transactions?period=all')
  const table = page.getByRole('table', { name: 'Transactions' })
  const first = table.locator('tbody tr').first()
  await first.waitFor()
  await table.getByRole('button', { name: 'Amount' }).click()
  const header = table.getByRole('columnheader', { name: 'Amount' })
  assert.equal(await header.getAttribute('aria-sort'), 'descending')
  await table.getByText(/Sorts only the \d+ loaded rows/).waitFor()
  const top = await first.innerText()
  await table.getByRole('button', { name: 'Amount' }).click()
  assert.equal(await header.getAttribute('aria-sort'), 'ascending')
  assert.notEqual(await first.innerText(), top)
  const more = page.getByRole('button', { name: 'Load more' })
  await more.click()
  await more.waitFor({ state: 'detached' })
  await first.getByText('Shop 1', { exact: true }).waitFor()
  assert.equal(await table.getByText(/Sorts only the/).count(), 0)
  assert.deepEqual(complaints, [])
})

test('search finds a top-up beyond the first hundred, and says what it left out', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openBuyer(service)
  const create = (amount_usd: number) =>
    send(url, 'POST', '/v1/topups', { bearer, body: { amount_usd } })
  const oldest = await create(77.77)
  assert.equal(oldest.status, 201, oldest.text)
  // As rows: a thousand calls would take minutes.
  const addNewer = (from: number, to: number) =>
    service.runtime.db.run(
      `insert into topups
       select (jsonb_populate_record(t, jsonb_build_object(
         'id', 'tup_7zzzzzzzzz' || lpad(n::text, 16, '0'), 'amount_micros', 5000000,
         'deposit_address', 'T' || lpad(n::text, 33, '0'), 'address_index', 1000000 + n))).*
         from topups t, generate_series($2::int, $3::int) n where t.id = $1`,
      [oldest.body['id'], from, to],
    )
  await addNewer(1, 250)
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/')
  await search(page, 'top-up 77.77')
  await page.getByRole('option', { name: /Top-up of \$77\.77/ }).waitFor()
  assert.equal(await page.getByText('Searched the newest').count(), 0)
  await addNewer(251, 1_005)
  await page.reload()
  await search(page, 'top-up 5.00')
  await page.getByText('Searched the newest 1,000 top-ups.').waitFor()
  assert.deepEqual(complaints, [])
})
