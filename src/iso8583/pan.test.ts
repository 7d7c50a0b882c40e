import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { seed } from '#test/fixtures/iso8583/random_messages.ts'
import { generatePan, isPan, luhnCheckDigit } from './pan.ts'

test('published test card numbers are valid and their neighbors are not', () => {
  for (const pan of [
    '4111111111111111',
    '5555555555554444',
    '378282246310005',
    '4761739001010119',
  ]) {
    assert.ok(isPan(pan))
    assert.equal(luhnCheckDigit(pan.slice(0, -1)), pan.at(-1))
  }
  for (const text of [
    '4111111111111112',
    '',
    '0',
    '00000000',
    '4111 1111 1111 1111',
    '٤١١١١١١١١١١١١١١١',
  ]) {
    assert.equal(isPan(text), false)
  }
})

test('the Luhn check finds every changed digit and every swap except 09 and 90', (t) => {
  t.diagnostic(`seed ${seed}`)
  const property = fc.property(
    fc.nat(10 ** 9 - 1),
    fc.nat(14),
    fc.integer({ min: 1, max: 9 }),
    (random, at, by) => {
      const pan = generatePan('453212', () => random)
      const digits = [...pan].map(Number)
      const changed = digits.with(at, ((digits[at] as number) + by) % 10).join('')
      assert.equal(isPan(changed), false)
      const [a, b] = [digits[at] as number, digits[at + 1] as number]
      const swapped = digits
        .with(at, b)
        .with(at + 1, a)
        .join('')
      assert.equal(isPan(swapped), a === b || Math.abs(a - b) === 9)
    },
  )
  fc.assert(property, { seed, numRuns: 500 })
})

test('a generated number has 16 digits, its BIN and a valid check digit', () => {
  for (const bin of ['453212', '4532121', '45321212']) {
    for (let count = 0; count < 200; count += 1) {
      const pan = generatePan(bin, randomInt)
      assert.match(pan, /^\d{16}$/)
      assert.ok(pan.startsWith(bin) && isPan(pan))
    }
  }
  assert.equal(
    generatePan('453212', () => 7),
    `453212000000007${luhnCheckDigit('453212000000007')}`,
  )
})

test('an invalid BIN is refused', () => {
  for (const bin of ['', '45321', '453212123', '45321x']) {
    assert.throws(() => generatePan(bin, randomInt), /a BIN has six to eight digits/)
  }
})
