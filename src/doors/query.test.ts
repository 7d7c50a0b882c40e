import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { InexactNumber } from '#kernel/json.ts'
import { readQuery } from './query.ts'

const read = (search: string) => readQuery(operations.list_transactions, search)

test('numbers become numbers where the schema says so, and all else stays text', () => {
  assert.deepEqual(read('limit=10&amount_gte=2.50&status=1&merchant=true&card_id=05'), {
    limit: 10,
    amount_gte: 2.5,
    status: '1',
    merchant: 'true',
    card_id: '05',
  })
  assert.deepEqual(read(''), {})
  assert.deepEqual(read('merchant=a%2Bb+c%26d'), { merchant: 'a+b c&d' })
})

test('text that is no number stays text, for validation to refuse', () => {
  for (const text of ['', 'x', '0x10', '1_0', '١', '+1', '.5', '1.', 'NaN', 'Infinity', '[1]']) {
    assert.equal(read(`limit=${encodeURIComponent(text)}`)['limit'], text)
  }
  assert.ok(read('limit=9007199254740993')['limit'] instanceof InexactNumber)
  assert.ok(read('amount_gte=-0')['amount_gte'] instanceof InexactNumber)
})

test('a repeated name is refused, whatever its values', () => {
  for (const search of ['limit=1&limit=1', 'a=&a=', '__proto__=1&__proto__=2', 'a=1&%61=2']) {
    assert.throws(
      () => read(search),
      (cause) => cause instanceof Problem && cause.code === 'invalid_request',
    )
  }
})

test('names that every object has are names like any other', () => {
  const input = read('__proto__=1&constructor=2&toString=3')
  assert.deepEqual(Object.keys(input), ['__proto__', 'constructor', 'toString'])
  assert.equal(Object.getPrototypeOf(input), Object.prototype)
})
