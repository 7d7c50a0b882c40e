import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { timestampText } from './timestamp.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))

test('every timestamp gets its own ISO text, whatever was cached before', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(fc.array(fc.date({ noInvalidDate: true }), { minLength: 1 }), (timestamps) => {
      for (const timestamp of [...timestamps, ...timestamps]) {
        assert.equal(timestampText(timestamp), timestamp.toISOString())
      }
    }),
    { seed },
  )
})

test('timestamps that share a cache slot are not mixed up', () => {
  const first = new Date(61 * 1_000)
  const second = new Date(61 * 2_000)
  assert.notEqual(timestampText(first), timestampText(second))
  assert.equal(timestampText(first), first.toISOString())
})

test('an invalid date throws', () => {
  assert.throws(() => timestampText(new Date(Number.NaN)), RangeError)
})
