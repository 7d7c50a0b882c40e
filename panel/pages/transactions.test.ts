import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { collectDownloads } from '#panel/test_support/downloads.ts'
import { type Answers, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { Transactions } from './transactions.tsx'

const example = row('list_transactions', {
  type: 'authorization',
  status: 'captured',
  merchant_name: 'Bahn',
  amount_usd: 25.5,
  captured_usd: 25.5,
  refunded_usd: 0,
  held_usd: 0,
  authorization_id: null,
  dispute_id: null,
})
const idOf = (at: number) => example.id.replace(/.$/, String(at))
const purchase = { ...example, id: idOf(1) }
const capture = {
  ...example,
  id: idOf(2),
  type: 'capture' as const,
  status: 'settled' as const,
  authorization_id: idOf(1),
}
const card = row('list_cards', { id: example.card_id, name: 'Travel' })
const answers: Answers = {
  list_cards: pageOf([card]),
  list_disputes: pageOf([]),
  'GET /oauth/grants': { data: [] },
  list_transactions: pageOf([capture, purchase]),
}

test('the list has one row per purchase, and a type shows its single events', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  assert.equal(page.in('table').all('row').length, 2)
  await page.fill('Type', 'capture')
  assert.equal(service.sent('list_transactions').at(-1)?.['type'], 'capture')
  assert.equal(page.in('table').all('row').length, 3)
})

test('filters: merchant, card and category are sent together, and Clear removes them', async (t) => {
  useTestClock(t)
  const service = serve(t, answers)
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  await page.fill('Search merchants', ' bahn ')
  await page.pass(400)
  await page.fill('Card', card.id)
  await page.fill('Category', '5411')
  const sent = { merchant: 'bahn', card_id: card.id, mcc: '5411' }
  assert.deepEqual(service.sent('list_transactions').at(-1), sent)
  await page.click('button', 'Clear')
  assert.equal(page.path(), '/transactions')
})

test('filters: the days of a link from a report are UTC days', async (t) => {
  const service = serve(t, answers)
  const path = '/transactions?type=capture&period=between&from=2026-11-03&to=2026-11-03&zone=utc'
  await open(t, Transactions, {}, { path })
  assert.deepEqual(service.sent('list_transactions')[0], {
    type: 'capture',
    created_gte: '2026-11-03T00:00:00.000Z',
    created_lt: '2026-11-04T00:00:00.000Z',
  })
})

test('each row leads to the dispute form, if a charge to dispute was asked for', async (t) => {
  serve(t, answers)
  const path = '/transactions?status=completed&choose=dispute'
  const page = await open(t, Transactions, {}, { path })
  const link = page.in('table').all('link')[0]
  assert.equal(link?.getAttribute('href'), `/transactions/${purchase.id}?dispute`)
  assert.match(page.text(), /Choose the charge to dispute/)
})

test('the exported file has the rows that the list shows', async (t) => {
  const downloads = collectDownloads(t)
  serve(t, answers)
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  await page.click('button', 'Export CSV')
  const [file] = await downloads()
  const lines = file?.text.trim().split('\n') ?? []
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /Bahn/)
})

test('purchase_cells: a purchase in dispute is marked, and money that came back is shown', async (t) => {
  const dispute = row('list_disputes', { status: 'open' })
  const disputed = { ...purchase, refunded_usd: 5 }
  serve(t, {
    ...answers,
    list_disputes: pageOf([dispute]),
    list_transactions: ({ dispute_id }) =>
      pageOf([dispute_id === undefined ? disputed : { ...capture, dispute_id: dispute.id }]),
  })
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  assert.match(page.in('table').text(), /Disputed/)
  assert.match(page.in('table').text(), /\+\$5\.00 back/)
})

test('purchase_cells: the events of a purchase open below its row', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  await page.click('button', 'Events of Bahn')
  const asked = service.sent('list_transactions').at(-1)
  assert.deepEqual(asked, { authorization_id: purchase.id, order: 'asc', limit: 100 })
  assert.match(page.in('list', 'Timeline').text(), /Captured/)
})

test('an empty list differs from a filter without results', async (t) => {
  serve(t, { ...answers, list_transactions: pageOf([]) })
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  assert.match(page.text(), /No transactions yet/)
  await page.fill('Status', 'declined')
  assert.match(page.text(), /No results/)
})
