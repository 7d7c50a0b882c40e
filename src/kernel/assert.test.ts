import nodeAssert from 'node:assert/strict'
import { test } from 'node:test'
import { assert } from './assert.ts'

test('a failed assert throws its message and a passed one does nothing', () => {
  assert(true, 'never said')
  assert('text', 'never said')
  for (const claim of [false, 0, '', null, undefined]) {
    nodeAssert.throws(() => assert(claim, 'a card has an owner'), /^Error: broken claim: a card/)
  }
})
