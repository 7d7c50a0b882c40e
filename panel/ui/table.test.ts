import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { FlorinError } from '#client/client.ts'
import type { List } from '#panel/queries.ts'
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
