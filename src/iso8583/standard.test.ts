import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  encodeStandard,
  type StandardElement,
  sampleOf,
  standard_elements,
} from '#test/fixtures/iso8583/standard_1987.ts'
import { default_link, links } from './links.ts'
import { maskBytes, readMasked } from './mask.ts'
import { decode, encode } from './message.ts'

/** Short enough for all 126 elements to fit one frame. */
const TOGETHER_LENGTH_MAX = 40

const lengthsOf = ({ prefix_digits, length_max }: StandardElement): number[] =>
  prefix_digits === 0 ? [length_max] : [1, length_max]

test('the standard has 126 elements with a value', () => {
  const numbers = standard_elements.map(({ element }) => element)
  const all = Array.from({ length: 127 }, (_, at) => at + 2).filter((number) => number !== 65)
  assert.deepEqual(numbers, all)
})

for (const row of standard_elements) {
  test(`element ${row.element} alone is encoded as in the standard`, () => {
    for (const length of lengthsOf(row)) {
      const message = { mti: '0100', fields: { [row.element]: sampleOf(row, length) } }
      const bytes = encodeStandard(message)
      assert.deepEqual(decode(default_link, bytes).fields, message.fields)
      assert.deepEqual(Buffer.from(encode(default_link, message)), bytes)
    }
  })
}

test('all elements together are encoded as in the standard', () => {
  const fields: Record<number, string> = {}
  for (const row of standard_elements) {
    const is_fixed = row.prefix_digits === 0
    const length = is_fixed ? row.length_max : Math.min(row.length_max, TOGETHER_LENGTH_MAX)
    fields[row.element] = sampleOf(row, length)
  }
  const bytes = encodeStandard({ mti: '0100', fields })
  assert.deepEqual(decode(default_link, bytes).fields, fields)
  assert.deepEqual(Buffer.from(encode(default_link, { mti: '0100', fields })), bytes)
})

test('every link has every element', () => {
  for (const link of Object.values(links)) {
    const known = link.elements.map(({ element }) => element)
    assert.deepEqual(
      known,
      standard_elements.map(({ element }) => element),
    )
  }
})

/** Free-format elements and elements with card or security data. */
const HIDDEN = [
  ...[34, 35, 36, 45, 46, 47, 48, 52, 55, 57, 58, 59, 92, 96, 104],
  ...Array.from({ length: 15 }, (_, at) => 105 + at),
  ...[121, 122, 123, 124, 125, 126, 127],
]

for (const element of HIDDEN) {
  test(`element ${element} is masked before storage`, () => {
    const row = standard_elements.find((each) => each.element === element)
    assert(row !== undefined)
    const secret = sampleOf(row, Math.min(row.length_max, 28))
    const raw = encodeStandard({ mti: '0100', fields: { 11: '123456', [element]: secret } })
    const masked = maskBytes(default_link, decode(default_link, raw))
    const { fields } = readMasked(default_link, masked)
    assert(!JSON.stringify(fields).includes(secret), 'among the values')
    assert(!Buffer.from(masked).includes(raw.subarray(-secret.length)), 'among the bytes')
    assert.equal(fields[11], '123456')
  })
}
