import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeByteBudget, type Share } from './byte_budget.ts'

const limits = { stranger: { total: 100, holder: 60 }, caller: { total: 200, holder: 150 } }
const stranger = (holder: string): Share => ({ group: 'stranger', holder })

test('one holder or group cannot take the memory of the others, and released memory is free again', () => {
  const budget = makeByteBudget(limits)
  assert.equal(budget.take(stranger('a'), 60), true)
  assert.equal(budget.take(stranger('a'), 1), false)
  assert.equal(budget.take(stranger('b'), 41), false)
  assert.equal(budget.take(stranger('b'), 40), true)
  assert.equal(budget.take({ group: 'caller', holder: 'a' }, 150), true)
  budget.release(stranger('a'), 60)
  assert.equal(budget.take(stranger('c'), 60), true)
  assert.equal(budget.take(stranger('a'), 1), false)
})
