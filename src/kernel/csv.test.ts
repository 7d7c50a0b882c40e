import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow } from './csv.ts'

test('a cell with a comma, quote or line break is quoted', () => {
  assert.equal(csvRow(['a,b', 'say "no"', 'two\nlines', '']), '"a,b","say ""no""","two\nlines",\n')
})

test('text that a spreadsheet would run as a formula begins with an apostrophe', () => {
  for (const text of ['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1', ' =1', '＝1', '\u200b=1']) {
    assert.equal(csvRow([text]), `'${text}\n`)
  }
  assert.equal(csvRow(['\r=1,2']), '"\'\r=1,2"\n')
  assert.equal(csvRow(['=HYPERLINK("x")']), '"\'=HYPERLINK(""x"")"\n')
})

test('numbers, also negative ones, stay numbers', () => {
  assert.equal(
    csvRow(['-12.50', -3, 0.000001, '+1.5', true, null]),
    "-12.50,-3,0.000001,'+1.5,true,\n",
  )
})
