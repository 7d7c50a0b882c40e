import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feeMicros } from './payment_money.ts'

test('a network fee is converted to USD and rounded up', () => {
  assert.equal(feeMicros(0n, 3_000), 0n)
  assert.equal(feeMicros(1n, 3_000), 1n)
  assert.equal(feeMicros(10n ** 18n, 3_000), 3_000_000_000n)
  assert.equal(feeMicros(946_000_000_000n, 3_000), 2_838n)
  assert.equal(feeMicros(333_333_334n, 3_000), 2n)
})
