import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountFromMinor, amountText } from './currencies.ts'

test('an amount has all decimals of its currency', () => {
  const written: [bigint, string, string][] = [
    [1_250n, 'USD', '12.50'],
    [5n, 'EUR', '0.05'],
    [1_500n, 'JPY', '1500'],
    [1_234n, 'KWD', '1.234'],
    [0n, 'USD', '0.00'],
  ]
  for (const [minor, currency, text] of written) {
    assert.equal(amountText(minor, currency), text)
    assert.equal(Number(text), amountFromMinor(minor, currency))
  }
})
