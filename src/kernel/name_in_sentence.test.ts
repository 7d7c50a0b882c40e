import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameInSentence } from './name_in_sentence.ts'

test('a long name is cut to 60 characters, and never inside of one', () => {
  assert.equal(nameInSentence(`${'x'.repeat(58)}😀😀😀`), `${'x'.repeat(58)}😀…`)
  assert.equal(nameInSentence('😀'.repeat(60)), '😀'.repeat(60))
})

test('a name is one line without invisible characters, or null', () => {
  assert.equal(
    nameInSentence('Deploy\r\n\r\nYour account was\u202e closed'),
    'Deploy Your account was closed',
  )
  for (const name of [null, '', ' \u200b\n']) assert.equal(nameInSentence(name), null)
})
