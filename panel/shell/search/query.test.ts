import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesQuery, pageOfId, parseQuery } from './query.ts'

test('a number is an amount, and whole dollars include their cents', () => {
  assert.deepEqual(parseQuery(' Netflix  $15.49 '), {
    words: ['netflix'],
    amount: { from_usd: 15.49, to_usd: 15.49 },
  })
  assert.deepEqual(parseQuery('1,250').amount, { from_usd: 1250, to_usd: 1250.999999 })
  assert.equal(parseQuery('9to5 3x').amount, null)
})

test('a row matches if it has every word and the amount, or the number in its text', () => {
  const row = { text: 'Top-up completed USDT', amounts: [100, 60.5] }
  const isFound = (text: string) => matchesQuery(parseQuery(text), row)
  assert.deepEqual(['top completed', '60.50 usdt', '60', '61', 'top-up failed'].map(isFound), [
    true,
    true,
    true,
    false,
    false,
  ])
  assert(matchesQuery(parseQuery('visa 4242'), { text: 'Groceries visa 4242' }))
})

test('an ID leads to the page of its object', () => {
  const id = 'wd_01kc3z8e5xf8m9r4t2v6w7y8za'
  assert.equal(pageOfId(` ${id}`), `/withdrawals/${id}`)
  assert.equal(pageOfId('req_01kc3z8e5xf8m9r4t2v6w7y8za'), null)
  assert.equal(pageOfId('netflix'), null)
})
