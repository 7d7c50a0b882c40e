import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazy } from './lazy.ts'

test('a lazy value is computed once, on first use', () => {
  let made = 0
  const nothing = lazy(() => {
    made += 1
    return undefined
  })
  assert.equal(made, 0)
  nothing()
  assert.equal(nothing(), undefined)
  assert.equal(made, 1)
})

test('a computation that failed is tried again', () => {
  let tries = 0
  const shaky = lazy(() => {
    tries += 1
    if (tries === 1) throw new Error('not yet')
    return tries
  })
  assert.throws(shaky, { message: 'not yet' })
  assert.equal(shaky(), 2)
})
