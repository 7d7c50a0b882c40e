import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  decimalFromMicros,
  decimalParts,
  decimalsOf,
  microsFromUsd,
  usdFromMicros,
} from './money.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const runs = { seed, numRuns: 2_000 }

/** 8.5 billion dollars: below 2^33 a float distinguishes adjacent micro-dollars. */
const HOLDABLE = 8_500_000_000_000_000n
const micros = fc.bigInt({ min: -HOLDABLE, max: HOLDABLE })

test('an amount survives its JSON number digit for digit', (t) => {
  t.diagnostic(`seed ${seed}`)
  const property = fc.property(micros, (amount) => {
    const sent = JSON.stringify(usdFromMicros(amount))
    assert.equal(microsFromUsd(JSON.parse(sent) as number), amount)
  })
  fc.assert(property, {
    ...runs,
    examples: [[HOLDABLE], [-HOLDABLE], [1n], [-1n], [0n], [999_999n]],
  })
})

test('the decimal text of an amount is its micros with the point put in', (t) => {
  t.diagnostic(`seed ${seed}`)
  const property = fc.property(fc.bigInt(), (amount) => {
    const text = decimalFromMicros(amount)
    assert.match(text, /^-?(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/)
    const [whole = '', fraction = ''] = text.split('.')
    assert.equal(BigInt(whole + fraction.padEnd(6, '0')), amount)
  })
  fc.assert(property, runs)
})

test('every float means what it prints, whatever its notation', (t) => {
  t.diagnostic(`seed ${seed}`)
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
  const property = fc.property(finite, (value) => {
    const parts = decimalParts(String(value))
    assert.ok(parts !== null)
    const { negative, whole, fraction } = parts
    assert.equal(Number(`${negative ? '-' : ''}${whole}.${fraction || '0'}`), value || 0)
    assert.equal(decimalsOf(value), fraction.length)
  })
  fc.assert(property, { ...runs, examples: [[-0], [1e-7], [5e-324], [1.7976931348623157e308]] })
})

test('adding in micros is exact where adding floats is not', (t) => {
  t.diagnostic(`seed ${seed}`)
  const cents = fc.integer({ min: 0, max: 10_000_000 })
  const property = fc.property(fc.array(cents, { maxLength: 50 }), (amounts) => {
    const sum = amounts.reduce((total, each) => total + microsFromUsd(each / 100), 0n)
    assert.equal(sum, BigInt(amounts.reduce((total, each) => total + each, 0)) * 10_000n)
  })
  fc.assert(property, runs)
})
