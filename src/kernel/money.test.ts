import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decimalFromMicros,
  decimalParts,
  decimalsOf,
  dollarsFromMicros,
  formatUsd,
  microsFromUsd,
  usdFromMicros,
} from './money.ts'

test('0.1 and 0.2 are three tenths, never 0.30000000000000004', () => {
  const sum = microsFromUsd(0.1) + microsFromUsd(0.2)
  assert.equal(sum, 300_000n)
  assert.equal(usdFromMicros(sum), 0.3)
  assert.throws(() => microsFromUsd(0.1 + 0.2), /at most 6 decimals/)
})

test('a seventh decimal is never rounded away', () => {
  for (const value of [1e-7, 0.1234567, 1.0000001, -1e-7, 5e-324]) {
    assert.throws(() => microsFromUsd(value), /at most 6 decimals/, String(value))
  }
  assert.equal(microsFromUsd(1e-6), 1n)
  assert.equal(microsFromUsd(0.000001), 1n)
})

test('a value that is not a finite number is no amount', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.throws(() => microsFromUsd(value))
    assert.throws(() => decimalsOf(value), /only finite numbers/)
  }
})

test('minus zero is zero', () => {
  assert.equal(microsFromUsd(-0), 0n)
  assert.ok(Object.is(usdFromMicros(0n), 0))
  assert.equal(decimalFromMicros(0n), '0')
})

test('large and small notations are worked out', () => {
  assert.equal(microsFromUsd(1e21), 10n ** 27n)
  assert.equal(decimalsOf(1e21), 0)
  assert.equal(decimalsOf(1e-7), 7)
  assert.equal(decimalsOf(1.5), 1)
  assert.deepEqual(decimalParts('1.50e1'), { negative: false, whole: '15', fraction: '' })
  assert.deepEqual(decimalParts('-00.10'), { negative: true, whole: '0', fraction: '1' })
  assert.deepEqual(decimalParts('12e-4'), { negative: false, whole: '0', fraction: '0012' })
})

test('text that is not a decimal number has no parts', () => {
  for (const text of ['', '.', '1.', '.5', '+1', '1e', '0x10', '1_000', ' 1', '1e99999', 'NaN']) {
    assert.equal(decimalParts(text), null, text)
  }
})

test('amounts are written without needless zeros and with their sign', () => {
  const written = [
    [1n, '0.000001'],
    [-1n, '-0.000001'],
    [1_000_000n, '1'],
    [25_500_000n, '25.5'],
    [-25_500_001n, '-25.500001'],
    [9_007_199_254_740_993_000_000n, '9007199254740993'],
  ] as const
  for (const [micros, text] of written) assert.equal(decimalFromMicros(micros), text)
})

test('a number of a million digits is taken apart in no time', () => {
  const zeros = '0'.repeat(1_000_000)
  const began = performance.now()
  assert.equal(decimalParts(`0.${zeros}1`)?.fraction.length, 1_000_001)
  assert.equal(decimalParts(`1.${zeros}`)?.fraction, '')
  assert.equal(decimalParts(`${zeros}1`)?.whole, '1')
  assert.equal(decimalParts(`1${zeros}2`)?.whole.length, 1_000_002)
  assert.ok(performance.now() - began < 2_000)
})

test('people read dollars with at least two decimals, and no digit is lost', () => {
  const written: [bigint, string][] = [
    [0n, '0.00'],
    [12_500_000n, '12.50'],
    [-80_000_000n, '-80.00'],
    [1_234_567n, '1.234567'],
  ]
  for (const [micros, text] of written) assert.equal(dollarsFromMicros(micros), text)
})

test('dollars are shown with a sign, thousands separators and at least two decimal places', () => {
  assert.equal(formatUsd(0n), '$0.00')
  assert.equal(formatUsd(15_490_000n), '$15.49')
  assert.equal(formatUsd(1_234_567_500_000n), '$1,234,567.50')
  assert.equal(formatUsd(123_000_001n), '$123.000001')
  assert.equal(formatUsd(-1_000_000_000n), '-$1,000.00')
})
