import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { momentText } from './moment.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))

test('says every moment as its ISO text, whatever moments were said before it', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(fc.array(fc.date({ noInvalidDate: true }), { minLength: 1 }), (moments) => {
      for (const moment of [...moments, ...moments]) {
        assert.equal(momentText(moment), moment.toISOString())
      }
    }),
    { seed },
  )
})

test('tells moments apart that share their place in its memory', () => {
  const first = new Date(61 * 1_000)
  const second = new Date(61 * 2_000)
  assert.notEqual(momentText(first), momentText(second))
  assert.equal(momentText(first), first.toISOString())
})

test('refuses what is no moment, as a date does', () => {
  assert.throws(() => momentText(new Date(Number.NaN)), RangeError)
})
