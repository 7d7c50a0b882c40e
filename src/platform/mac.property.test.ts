import assert from 'node:assert/strict'
import { createHmac, randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { macUnder } from './mac.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))

test('is HMAC-SHA-256 for keys and texts of any length', (t) => {
  t.diagnostic(`seed ${seed}`)
  const key = fc.uint8Array({ minLength: 1, maxLength: 200 })
  const text = fc.string({ unit: 'grapheme', maxLength: 500 })
  fc.assert(
    fc.property(key, fc.array(text, { minLength: 1 }), (bytes, texts) => {
      const mac = macUnder(bytes)
      for (const one of texts) {
        assert.equal(mac(one), createHmac('sha256', bytes).update(one).digest('base64url'))
      }
    }),
    { seed },
  )
})
