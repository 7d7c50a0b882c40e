import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { nextSorting, sortRows } from './sorting.tsx'

type Row = { name: string; usd: number | null }
const rows: Row[] = [
  { name: 'Card 10', usd: 5 },
  { name: 'card 2', usd: null },
  { name: 'Card 1', usd: -3 },
  { name: 'Bar', usd: 5 },
]
const columns = [
  { title: 'Name', sortKey: ({ name }: Row) => name },
  { title: 'Amount', sortKey: ({ usd }: Row) => usd },
  { title: 'Plain' },
]
const names = (title: string, direction: 'ascending' | 'descending') =>
  sortRows(rows, columns, { title, direction }).map(({ name }) => name)

test('text sorts without regard to case, and numbers in it by value', () => {
  assert.deepEqual(names('Name', 'ascending'), ['Bar', 'Card 1', 'card 2', 'Card 10'])
  assert.deepEqual(names('Name', 'descending'), ['Card 10', 'card 2', 'Card 1', 'Bar'])
})

test('numbers sort by value, equal rows keep their order, and missing values are last', () => {
  assert.deepEqual(names('Amount', 'descending'), ['Card 10', 'Bar', 'Card 1', 'card 2'])
  assert.deepEqual(names('Amount', 'ascending'), ['Card 1', 'Card 10', 'Bar', 'card 2'])
})

test('a column without a key leaves the rows as they are', () => {
  assert.equal(sortRows(rows, columns, { title: 'Plain', direction: 'ascending' }), rows)
})

test('three clicks on a header are one direction, the other, and the order of the list', () => {
  const first = nextSorting(null, 'Amount', 'down')
  assert.deepEqual(first, { title: 'Amount', direction: 'descending' })
  const second = nextSorting(first, 'Amount', 'down')
  assert.deepEqual(second, { title: 'Amount', direction: 'ascending' })
  assert.equal(nextSorting(second, 'Amount', 'down'), null)
  assert.deepEqual(nextSorting(second, 'Name', 'up'), { title: 'Name', direction: 'ascending' })
})
