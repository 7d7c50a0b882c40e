import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countryIsAllowed, isMccEntry, mccIsAllowed } from './controls.ts'
import { isCountry } from './countries.ts'

const mcc = fc.integer({ min: 0, max: 9_999 })
const text = (code: number) => String(code).padStart(4, '0')
const range = fc.tuple(mcc, mcc).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
const single = mcc.map((code) => [code, code] as const)
const entry = fc.oneof(single, range)
const entries = fc.option(fc.array(entry, { maxLength: 8 }), { nil: null })
const written = (list: readonly (readonly [number, number])[] | null) =>
  list?.map(([low, high]) => (low === high ? text(low) : `${text(low)}-${text(high)}`)) ?? null

test('a category is allowed if it is in allow, or there is no allow, and it is not in deny', () => {
  fc.assert(
    fc.property(entries, entries, mcc, (allow, deny, code) => {
      const covers = ([low, high]: readonly [number, number]) => low <= code && code <= high
      const expected = (allow === null || allow.some(covers)) && !(deny ?? []).some(covers)
      const rules = { allow: written(allow), deny: written(deny) }
      assert.equal(mccIsAllowed(rules, text(code)), expected)
      for (const each of [...(rules.allow ?? []), ...(rules.deny ?? [])]) {
        assert.ok(isMccEntry(each))
      }
    }),
    { numRuns: 5_000 },
  )
})

test('a range includes both its ends and nothing beyond them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9_990 }), fc.integer({ min: 0, max: 8 }), (low, more) => {
      const rules = { allow: [`${text(low)}-${text(low + more)}`], deny: null }
      assert.ok(mccIsAllowed(rules, text(low)) && mccIsAllowed(rules, text(low + more)))
      assert.ok(!mccIsAllowed(rules, text(low - 1)) && !mccIsAllowed(rules, text(low + more + 1)))
    }),
  )
})

test('an entry is valid only as four digits, or as two codes in ascending order', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 12 }), (given) => {
      const [low = '', high = low] = given.split('-')
      const expected =
        /^\d{4}(-\d{4})?$/.test(given) && Number(low) <= Number(high) && !given.includes('\n')
      assert.equal(isMccEntry(given), expected)
    }),
    { numRuns: 5_000 },
  )
})

test('no rules allow everything, an empty allow list allows nothing, and deny wins', () => {
  fc.assert(
    fc.property(fc.constantFrom('DE', 'US', 'KP'), (country) => {
      assert.ok(countryIsAllowed({ allow: null, deny: null }, country))
      assert.ok(!countryIsAllowed({ allow: [], deny: null }, country))
      assert.ok(countryIsAllowed({ allow: [country], deny: [] }, country))
      assert.ok(!countryIsAllowed({ allow: [country], deny: [country] }, country))
    }),
  )
  assert.ok(countryIsAllowed({ allow: null, deny: ['KP'] }, null))
  assert.ok(!countryIsAllowed({ allow: ['DE'], deny: null }, null))
})

test('there are 249 country codes of two uppercase letters', () => {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  assert.equal(codes.filter(isCountry).length, 249)
  for (const code of ['XK', 'UK', 'EU', 'ZZ', 'AN', 'de', '']) assert.ok(!isCountry(code))
})
