import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { schemaOf, withSchema } from '#platform/postgres/schema.ts'
import { refuses } from '#test/support/refused_settings.ts'
import { settingsOfCell } from './cell_settings.ts'
import { readSettings } from './settings.ts'

test('FLORIN_CELLS lists more databases, and cell 0 is one of them or FLORIN_DATABASE_URL', () => {
  const at = (number: number) => ({ number, url: `postgres://u:hidden@h${number}/florin` })
  const beside = readSettings({
    FLORIN_DATABASE_URL: 'postgres://first/florin',
    FLORIN_CELLS: JSON.stringify([at(1), { ...at(7), account_url: 'postgres://a@h7/florin' }]),
  })
  assert.equal(beside.cell, 0)
  assert.equal(beside.database_url?.open(), 'postgres://first/florin')
  assert.deepEqual(
    beside.more_cells.map(({ number, url }) => [number, url.open()]),
    [1, 7].map((number) => [number, at(number).url]),
  )
  const listed = readSettings({ FLORIN_CELLS: JSON.stringify([at(1), at(0)]) })
  assert.equal(listed.database_url?.open(), at(0).url)
  assert.equal(inspect(listed, { depth: 9 }).includes('hidden'), false)
  const seventh = beside.more_cells[1]
  assert.ok(seventh !== undefined)
  const of_cell = settingsOfCell(beside, seventh)
  assert.equal(of_cell.cell, 7)
  assert.equal(of_cell.account_database_url?.open(), 'postgres://a@h7/florin')
  refuses({ FLORIN_CELLS: JSON.stringify([at(0)]), FLORIN_DATABASE_URL: at(1).url }, 'FLORIN_CELLS')
  refuses({ FLORIN_CELLS: JSON.stringify([at(1)]), FLORIN_DATABASE_URL: at(1).url }, 'FLORIN_CELLS')
  assert.deepEqual(readSettings({}).more_cells, [])
})

test('cells of one database need a schema each, which is part of their addresses', () => {
  const url = 'postgres://u@h1,h2/florin'
  const read = (...schemas: (string | undefined)[]) => {
    const cells = schemas.map((schema, at) => ({ number: at + 1, url, account_url: url, schema }))
    return readSettings({ FLORIN_DATABASE_URL: url, FLORIN_CELLS: JSON.stringify(cells) })
  }
  const { database_url, more_cells } = read('cell_1', 'cell_2')
  assert.equal(database_url?.open(), url)
  const addresses = more_cells.flatMap((cell) => [cell.url.open(), cell.account_url?.open() ?? ''])
  assert.deepEqual(addresses.map(schemaOf), ['cell_1', 'cell_1', 'cell_2', 'cell_2'])
  assert.throws(() => read('cell_1', 'cell_1'), {
    message: 'FLORIN_CELLS: gives the cells 1 and 2 the same database and schema.',
  })
  for (const schema of [undefined, 'public']) {
    assert.throws(
      () => read(schema),
      /which is cell 0; another cell there needs a schema of its own/,
    )
  }
  assert.throws(() => read('cell-1'), /the schema of entry 1 must be 1 to 63 lower-case letters/)
  const written = [{ number: 1, url: withSchema('postgres://h/db', 'public') }]
  assert.equal(readSettings({ FLORIN_CELLS: JSON.stringify(written) }).more_cells.length, 1)
  const elsewhere = {
    FLORIN_DATABASE_URL: withSchema(url, 'cell_0'),
    FLORIN_ACCOUNT_DATABASE_URL: url,
  }
  refuses(elsewhere, 'FLORIN_ACCOUNT_DATABASE_URL')
})

test('a node serves the cells of FLORIN_SERVE_CELLS, by default all of them', () => {
  const cells = [1, 2].map((number) => ({ number, url: `postgres://h${number}/florin` }))
  const FLORIN_CELLS = JSON.stringify(cells)
  const served = (FLORIN_SERVE_CELLS: string) =>
    readSettings({ FLORIN_CELLS, FLORIN_SERVE_CELLS }).serve_cells
  assert.deepEqual([served(''), served('0, 2, 1')], [null, null])
  assert.deepEqual([served('2'), served('2,0')], [[2], [0, 2]])
  assert.equal(readSettings({ FLORIN_SERVE_CELLS: '0' }).serve_cells, null)
  for (const FLORIN_SERVE_CELLS of ['3', '1;2', '-1', '01', 'all']) {
    refuses({ FLORIN_CELLS, FLORIN_SERVE_CELLS }, 'FLORIN_SERVE_CELLS')
  }
})

test('each cell has its own receiver, relayer and token key, and their settings say so', () => {
  const address = (digits: string) => `0x${digits.repeat(20)}`
  const own = { pay_to: address('cd'), key_file: '/one' }
  const cell_0 = { FLORIN_X402_PAY_TO: address('ab'), FLORIN_X402_KEY_FILE: '/zero' }
  const read = (cells: object) =>
    readSettings({ ...cell_0, FLORIN_X402_CELLS: JSON.stringify(cells) }).x402.cells
  assert.deepEqual(read({ 1: own }), { 1: own })
  const bad = [
    { 0: own },
    { 1: {} },
    { 1: { ...own, url: 'x' } },
    { 1: { ...own, key_file: 7 } },
    { 1: { ...own, pay_to: address('AB') } },
    { 1: { ...own, key_file: '/zero' } },
    { 1: own, 2: { ...own, key_file: '/two' } },
  ]
  for (const cells of bad) {
    refuses({ ...cell_0, FLORIN_X402_CELLS: JSON.stringify(cells) }, 'FLORIN_X402_CELLS')
  }

  const token = {
    FLORIN_PKCS11_MODULE: '/lib.so',
    FLORIN_PKCS11_TOKEN: 'florin',
    FLORIN_PKCS11_KEY_ID: '01',
    FLORIN_PKCS11_PIN_FILE: '/pin',
  }
  const first = { ...token, FLORIN_PKCS11_SIGNER_KEY_ID: '0A' }
  const ids = (env: Record<string, string>) => readSettings(env).key_token?.signer_key_ids
  assert.deepEqual([ids(token), ids(first)], [{}, { 0: '0a' }])
  assert.deepEqual(ids({ ...first, FLORIN_PKCS11_SIGNER_KEY_IDS: '{"1":"0B"}' }), {
    0: '0a',
    1: '0b',
  })
  for (const FLORIN_PKCS11_SIGNER_KEY_IDS of ['[]', '{"0":"0b"}', '{"1":"b"}', '{"1":"0a"}']) {
    refuses({ ...first, FLORIN_PKCS11_SIGNER_KEY_IDS }, 'FLORIN_PKCS11_SIGNER_KEY_IDS')
  }
  refuses({ ...token, FLORIN_PKCS11_SIGNER_KEY_IDS: '{"1":"0b"}' }, 'FLORIN_PKCS11_SIGNER_KEY_IDS')
})
