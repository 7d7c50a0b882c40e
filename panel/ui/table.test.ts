import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { FlorinError } from '#client/client.ts'
import type { List } from '#panel/queries.ts'
import { open } from '#panel/test_support/page.ts'
import { renderAt } from '#panel/test_support/render.tsx'
import { Table } from './table.tsx'

type Row = { id: string; name: string }

const loaded: List<Row> = {
  rows: [{ id: 'card_1', name: 'Groceries' }],
  problem: null,
  has_more: false,
  is_loading_more: false,
  loadMore: () => {},
  retry: () => {},
}

function render(list: Partial<List<Row>>): string {
  const table = createElement(Table<Row>, {
    label: 'Cards',
    list: { ...loaded, ...list },
    columns: [{ title: 'Card', cell: ({ name }) => name }],
    empty: 'No cards',
    href: ({ id }) => `/cards/${id}`,
  })
  return renderAt('/cards', table)
}

test('a table shows its rows as links, and more on request', () => {
  assert.match(render({}), /<a href="\/cards\/card_1"[^>]*>Groceries<\/a>/)
  assert.doesNotMatch(render({}), /Load more/)
  assert.match(render({ has_more: true }), /Load more/)
})

test('without rows it shows that it is loading, empty, or why it failed', () => {
  assert.match(render({ rows: undefined }), /role="status" aria-label="Loading Cards"/)
  assert.equal(render({ rows: [] }), 'No cards')
  const message = 'Something went wrong on our end.'
  const fields = { code: 'internal_error', message, status: 500, request_id: 'req_1' }
  const problem = new FlorinError(fields)
  const failed = render({ rows: undefined, problem })
  for (const text of [message, 'req_1', 'Try again']) assert(failed.includes(text), text)
})

test('rows that were loaded stay when a later request fails', () => {
  const problem = new FlorinError({ code: 'network_error', message: 'Can’t reach Florin.' })
  assert.match(render({ problem }), /Groceries/)
})

const three: List<Row> = {
  ...loaded,
  rows: [
    { id: 'card_1', name: 'Groceries' },
    { id: 'card_2', name: 'Travel' },
    { id: 'card_3', name: 'Cloud' },
  ],
}
const sortable = {
  label: 'Cards',
  list: three,
  columns: [{ title: 'Card', sortKey: ({ name }: Row) => name, cell: ({ name }: Row) => name }],
  empty: 'No cards',
}
const firstCells = (lines: readonly HTMLElement[]) =>
  lines.slice(1).map((line) => line.children[0]?.textContent)

test('a header sorts up, then down, then as loaded, and says so', async (t) => {
  const page = await open(t, Table<Row>, sortable)
  const orders: unknown[] = []
  for (let clicks = 0; clicks < 3; clicks += 1) {
    await page.click('button', 'Card')
    const direction = page.get('columnheader', 'Card').getAttribute('aria-sort')
    orders.push([direction, firstCells(page.all('row')).join()])
  }
  assert.deepEqual(orders, [
    ['ascending', 'Cloud,Groceries,Travel'],
    ['descending', 'Travel,Groceries,Cloud'],
    [null, 'Groceries,Travel,Cloud'],
  ])
})

test('a sort of a list with more rows says that it covers the loaded ones only', async (t) => {
  const list = { ...three, has_more: true }
  const page = await open(t, Table<Row>, { ...sortable, list })
  assert.doesNotMatch(page.text(), /only the 3 loaded rows/)
  await page.click('button', 'Card')
  assert.match(page.text(), /only the 3 loaded rows/)
})

test('a click on a row opens it; with Ctrl the link itself is followed', async (t) => {
  const href = ({ id }: Row) => `/cards/${id}`
  const page = await open(t, Table<Row>, { ...sortable, href }, { path: '/cards' })
  const link = page.get('link', 'Travel')
  link.addEventListener('click', (click) => click.preventDefault())
  await page.clickOn(link, { ctrlKey: true })
  assert.equal(page.path(), '/cards')
  await page.clickOn(link)
  assert.equal(page.path(), '/cards/card_2')
})

test('details of a row open and close by a button that is named after the row', async (t) => {
  const details = ({ name }: Row) => `Details: ${name}`
  const rowName = ({ name }: Row) => name
  const page = await open(t, Table<Row>, { ...sortable, details, rowName })
  await page.click('button', 'Events of Travel')
  assert.equal(page.get('button', 'Events of Travel').getAttribute('aria-expanded'), 'true')
  assert.match(page.text(), /Details: Travel/)
  await page.click('button', 'Events of Travel')
  assert.doesNotMatch(page.text(), /Details: Travel/)
})

test('"Load more" asks for more once, and "Try again" repeats a failed request', async (t) => {
  const asked: string[] = []
  const loadMore = () => void asked.push('more')
  const retry = () => void asked.push('again')
  const list = { ...three, has_more: true, loadMore, retry }
  const page = await open(t, Table<Row>, { ...sortable, list })
  await page.click('button', 'Load more')
  const busy = { ...sortable, list: { ...list, is_loading_more: true } }
  await page.render(createElement(Table<Row>, busy))
  await page.click('button', 'Load more')
  const problem = new FlorinError({ code: 'network_error', message: 'Can’t reach Florin.' })
  const failed = { ...sortable, list: { ...list, rows: undefined, problem } }
  await page.render(createElement(Table<Row>, failed))
  await page.click('button', 'Try again')
  assert.deepEqual(asked, ['more', 'again'])
})
