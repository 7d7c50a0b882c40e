import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columns } from './columns.ts'
import { fitLayout, formatRecord, formatTable } from './table.ts'

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
  test(`${name}: at 80 columns the table keeps its first three columns whole, and the ID`, () => {
    const rows = [rowOf(names)]
    const layout = fitLayout(rows, names, 80)
    const table = formatTable(rows, layout, { width: 80 })
    for (const line of table.split('\n')) assert.ok(line.length <= 80, line)
    assert.deepEqual(layout.names.slice(0, 3), names.slice(0, 3))
    assert.equal(table.includes(id), names.includes('id'))
    assert.deepEqual(fitLayout(rows, names, 500).names, names)
  })
}

test('a long merchant or a narrow terminal never costs the amount; the ID goes first', () => {
  const names = columns.list_transactions ?? []
  const long = { ...rowOf(names), merchant_name: 'x'.repeat(80), status: 'partially_captured' }
  for (const width of [120, 80, 60, 40]) {
    const layout = fitLayout([long], names, width)
    assert.match(formatTable([long], layout, { width }), /^ *\$12,345\.67 {2}/m, `${width}`)
  }
  assert.ok(fitLayout([long], names, 100).names.includes('id'))
  assert.ok(!fitLayout([long], names, 60).names.includes('id'))
})

test('a text in the last column is cut at the edge; an ID is never cut', () => {
  const rows = [{ type: 'card', state: 'on', to: 'a', message: 'x'.repeat(50), id }]
  const layout = fitLayout(rows, ['type', 'state', 'to', 'message'], 40)
  const [, line = ''] = formatTable(rows, layout, { width: 40 }).split('\n')
  assert.equal(line, `card  on     a   ${'x'.repeat(22)}…`)
  const with_id = fitLayout(rows, ['type', 'state', 'to', 'message', 'id'], 60)
  assert.deepEqual(with_id.names, ['type', 'state', 'to', 'id'])
})

test('amounts have a dollar sign, and chains up to six decimals', () => {
  const row = { amount_usd: 12.5, net_usd: -0.000001, amount: 12.5 }
  assert.equal(formatRecord(row), 'amount_usd  $12.50\nnet_usd     -$0.000001\namount      12.5')
})

test('one object begins with amount, merchant and status, and ends with its IDs', () => {
  const row = { id, card_id: id, type: 'capture', status: 'settled', merchant_name: 'Netflix' }
  const lines = formatRecord({ ...row, amount_usd: 15.49, three_ds: { id: 'x' } }).split('\n')
  const names = lines.map((line) => line.split(' ')[0])
  const first = ['amount_usd', 'merchant_name', 'status', 'type', 'three_ds.id']
  assert.deepEqual(names, [...first, 'id', 'card_id'])
})

test('timestamps are shown to the minute, and control characters are removed', () => {
  const rows = [{ created_at: timestamp, message: 'red\u001b[31m\u202e' }]
  assert.equal(
    formatTable(rows, { names: ['created_at', 'message'], text_max: 60 }),
    'created            message\n2026-11-15 09:30Z  red [31m',
  )
})

test('colors surround the text of a cell, not its padding', () => {
  const rows = [
    { status: 'active', name: 'a' },
    { status: 'cancelled', name: 'b' },
  ]
  const layout = { names: ['status', 'name'], text_max: 60 }
  const paint = (_name: string, text: string) => `<${text}>`
  assert.equal(
    formatTable(rows, layout, { paint }),
    '<status>     <name>\n<active>     <a>\n<cancelled>  <b>',
  )
})

test('a session is named by its browser and system', () => {
  const user_agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0'
  const table = formatTable([{ user_agent }], { names: ['user_agent'], text_max: 60 })
  assert.equal(table, 'device\nFirefox on Linux')
})
