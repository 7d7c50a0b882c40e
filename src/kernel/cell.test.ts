import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CELLS_MAX, cellOfSecret, markSecret } from './cell.ts'

test('a secret names its cell, and one of cell 0 is unchanged', () => {
  const secret = 'x'.repeat(43)
  assert.equal(markSecret(secret, 0), secret)
  for (let cell = 0; cell < CELLS_MAX; cell += 1) {
    assert.equal(cellOfSecret(markSecret(secret, cell), 43), cell)
  }
})

test('a secret with another length or an unknown mark names no cell', () => {
  const secret = 'x'.repeat(43)
  for (const end of ['0', '001', '40', 'zz', 'u0', '--', '0-', 'A1']) {
    assert.equal(cellOfSecret(secret + end, 43), null, end)
  }
})
