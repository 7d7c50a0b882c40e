import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columns } from './columns.ts'
import { columnsWithin, tableOf, tableWithin } from './table.ts'

const id = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'
const moment = '2026-11-15T09:30:00.000Z'

/** A row as wide as rows usually are. */
const rowOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, usual(name)]))

function usual(name: string): string | number {
  if (name === 'id') return id
  if (name.endsWith('_at')) return moment
  return name.endsWith('_usd') ? 12_345.67 : `some ${name}`
}

for (const [name, names] of Object.entries(columns)) {
  test(`${name}: the table fits eighty columns, and what tells rows apart stays`, () => {
    const rows = [rowOf(names)]
    const kept = columnsWithin(rows, names, 80)
    for (const line of tableWithin(rows, kept, 80).split('\n')) assert.ok(line.length <= 80, line)
    assert.equal(kept[0], names[0])
    assert.equal(kept.includes('id'), names.includes('id'))
    assert.deepEqual(columnsWithin(rows, names, 500), names)
  })
}

test('a text at the end is cut and not left out, an id is never cut', () => {
  const rows = [{ type: 'card', message: 'x'.repeat(50), id }]
  assert.deepEqual(columnsWithin(rows, ['type', 'message'], 40), ['type', 'message'])
  const [, line = ''] = tableWithin(rows, ['type', 'message'], 40).split('\n')
  assert.equal(line, `card  ${'x'.repeat(33)}…`)
  assert.deepEqual(columnsWithin(rows, ['type', 'message', 'id'], 40), ['type', 'id'])
})

test('a moment is shown to the second, and what a terminal would obey is not shown', () => {
  const rows = [{ created_at: moment, message: 'red\u001b[31m\u202e' }]
  assert.equal(
    tableOf(rows, ['created_at', 'message']),
    'created_at            message\n2026-11-15 09:30:00Z  red [31m',
  )
})
