import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typographic } from './typographic.ts'

test('apostrophes within words become typographic, and quoted code stays as it is', () => {
  assert.equal(
    typographic("You can't withdraw today's rest; the app's budget is $5."),
    'You can’t withdraw today’s rest; the app’s budget is $5.',
  )
  for (const same of ["'active' or 'frozen'", "set 'x' = 5'", '']) {
    assert.equal(typographic(same), same)
  }
})
