import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from './canonical.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const runs = { seed, numRuns: 2_000 }

function shuffled(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(shuffled)
  const entries = Object.entries(value).map(([key, member]) => [key, shuffled(member)] as const)
  return Object.fromEntries(entries.reverse())
}

test('one meaning has one text, whatever the order of its keys', (t) => {
  t.diagnostic(`seed ${seed}`)
  const property = fc.property(fc.jsonValue(), (value) => {
    const text = canonicalJson(value)
    assert.equal(canonicalJson(shuffled(value)), text)
    assert.equal(canonicalJson(JSON.parse(JSON.stringify(value))), text)
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
  })
  fc.assert(property, runs)
})

test('two meanings have two texts', (t) => {
  t.diagnostic(`seed ${seed}`)
  const property = fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
    const isSame = canonicalJson(a) === canonicalJson(b)
    // Through JSON first: it makes minus zero and zero one.
    const [left, right] = [a, b].map((value) => JSON.parse(JSON.stringify(value)) as unknown)
    if (isSame) assert.deepEqual(left, right)
    else assert.notDeepStrictEqual(left, right)
  })
  fc.assert(property, runs)
})

test('keys are sorted by code unit, absent members are left out, timestamps are their text', () => {
  const timestamp = new Date(Date.UTC(2026, 10, 15))
  assert.equal(
    canonicalJson({ b: 1, a: undefined, B: 2, '10': 3, '9': 4 }),
    '{"10":3,"9":4,"B":2,"b":1}',
  )
  assert.equal(canonicalJson([undefined, null]), '[null,null]')
  assert.equal(canonicalJson(undefined), 'null')
  assert.equal(canonicalJson({ at: timestamp }), '{"at":"2026-11-15T00:00:00.000Z"}')
})
