import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columns } from './columns.ts'
import { fitColumns, fitTable, formatTable } from './table.ts'

const id = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'
const timestamp = '2026-11-15T09:30:00.000Z'

/** A row of typical width. */
const rowOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, usual(name)]))

function usual(name: string): string | number {
  if (name === 'id') return id
  if (name.endsWith('_at')) return timestamp
  return name.endsWith('_usd') ? 12_345.67 : `some ${name}`
}

for (const [name, names] of Object.entries(columns)) {
  test(`${name}: the table fits 80 columns and keeps its first column and the ID`, () => {
    const rows = [rowOf(names)]
    const kept = fitColumns(rows, names, 80)
    for (const line of fitTable(rows, kept, 80).split('\n')) assert.ok(line.length <= 80, line)
    assert.equal(kept[0], names[0])
    assert.equal(kept.includes('id'), names.includes('id'))
    assert.deepEqual(fitColumns(rows, names, 500), names)
  })
}

test('a text in the last column is cut, not dropped; an ID is never cut', () => {
  const rows = [{ type: 'card', message: 'x'.repeat(50), id }]
  assert.deepEqual(fitColumns(rows, ['type', 'message'], 40), ['type', 'message'])
  const [, line = ''] = fitTable(rows, ['type', 'message'], 40).split('\n')
  assert.equal(line, `card  ${'x'.repeat(33)}…`)
  assert.deepEqual(fitColumns(rows, ['type', 'message', 'id'], 40), ['type', 'id'])
})

test('timestamps are shown to the second, and control characters are removed', () => {
  const rows = [{ created_at: timestamp, message: 'red\u001b[31m\u202e' }]
  assert.equal(
    formatTable(rows, ['created_at', 'message']),
    'created_at            message\n2026-11-15 09:30:00Z  red [31m',
  )
})
