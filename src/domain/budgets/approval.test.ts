import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOfAgent } from './approval.ts'

test('a long name of an app is cut to 60 characters, and never inside of one', () => {
  assert.equal(nameOfAgent(`${'x'.repeat(58)}😀😀😀`), `${'x'.repeat(58)}😀…`)
  assert.equal(nameOfAgent('😀'.repeat(60)), '😀'.repeat(60))
})

test('an app without a name, or with an invisible one, is called that', () => {
  for (const name of [null, '', ' \u200b\n'])
    assert.equal(nameOfAgent(name), 'An app without a name')
})
