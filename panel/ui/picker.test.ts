import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Option, searchOptions } from './picker.tsx'

const options: readonly Option[] = [
  ['5411', 'Grocery stores'],
  ['5814', 'Fast food'],
  ['7995', 'Casinos'],
]
const RANGE = /^\d{4}(-\d{4})?$/
const codes = (query: string, selected: string[] = [], accepts?: RegExp) =>
  searchOptions(options, query, selected, accepts).map(([code]) => code)

test('options are found by the start of their code or any part of their name', () => {
  assert.deepEqual(codes('5'), ['5411', '5814'])
  assert.deepEqual(codes('CASINO'), ['7995'])
  assert.deepEqual(codes('  '), [])
})

test('a selected option is not suggested again', () => {
  assert.deepEqual(codes('5', ['5411']), ['5814'])
})

test('a code or range outside the list is suggested only if it is valid', () => {
  assert.deepEqual(codes('3000-3299', [], RANGE), ['3000-3299'])
  assert.deepEqual(codes('3000-', [], RANGE), [])
  assert.deepEqual(codes('3000-3299'), [])
})
