import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { golden_frames } from '#test/fixtures/iso8583/golden_frames.ts'
import { compileLink } from './link.ts'
import { default_link, link_tables, links } from './links.ts'
import { MalformedMessage } from './malformed_message.ts'
import { decode, decodePartially, encode } from './message.ts'

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

describe('golden frames', () => {
  for (const { name, link, mti, fields, bytes, refused } of golden_frames) {
    if (refused === undefined) {
      test(`${name} decodes and encodes as expected`, () => {
        const message = decode(links[link], bytes)
        assert.equal(message.mti, mti)
        assert.deepEqual(message.fields, fields)
        assert.equal(hexOf(encode(links[link], { mti, fields })), hexOf(bytes))
      })
    } else {
      test(`${name} is refused for the right reason`, () => {
        assert.throws(() => decode(links[link], bytes), { name: 'MalformedMessage', ...refused })
      })
    }
  }
})

const echo = { mti: '0800', fields: { 7: '0911131411', 11: '000001', 70: '301' } }

test('a decoded message has its raw bytes and bitmaps', () => {
  const bytes = encode(default_link, {
    mti: '0100',
    fields: { 2: '4761739001010119', 11: '123456' },
  })
  const message = decode(default_link, bytes)
  assert.equal(message.bitmap_hex, '4020000000000000')
  assert.equal(message.raw, bytes)
  assert.equal(decode(default_link, encode(default_link, echo)).bitmap_hex.length, 32)
})

test('a Uint8Array inside a larger buffer can be decoded', () => {
  const bytes = encode(links.bcd, echo)
  const larger = new Uint8Array(bytes.length + 20).fill(0xff)
  larger.set(bytes, 7)
  assert.deepEqual(decode(links.bcd, larger.subarray(7, 7 + bytes.length)).fields, echo.fields)
})

test('encoded bytes are not overwritten by later messages', () => {
  const first = encode(default_link, echo)
  const before = hexOf(first)
  encode(default_link, { mti: '0810', fields: { 11: '999999', 39: '00' } })
  assert.equal(hexOf(first), before)
})

test('an empty secondary bitmap is valid', () => {
  const bytes = Buffer.from(`3038303080${'00'.repeat(15)}`, 'hex')
  assert.deepEqual(decode(default_link, bytes).fields, {})
})

test('hex digits of either case are accepted', () => {
  const bytes = encode(links.ascii_hex, {
    mti: '0200',
    fields: { 41: 'TERM0001', 64: 'abcdef0123456789' },
  })
  const lower = Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('ABCDEF', 'abcdef'))
  assert.equal(decode(links.ascii_hex, lower).fields[64], 'abcdef0123456789')
})

describe('encode refuses', () => {
  const cases: [string, Record<number, string>, number, string][] = [
    ['a fixed element that is too short', { 3: '00000' }, 3, 'wrong_length'],
    ['an element that is too long', { 2: '1'.repeat(20) }, 2, 'over_length'],
    ['letters in a number', { 4: '00000000500A' }, 4, 'wrong_characters'],
    ['signs in an alphanumeric element', { 38: 'A1-B2C' }, 38, 'wrong_characters'],
    ['characters beyond ASCII', { 44: 'Ünlü' }, 44, 'wrong_characters'],
    ['control characters', { 44: 'a\nb' }, 44, 'wrong_characters'],
    ['half a byte', { 55: 'abc' }, 55, 'wrong_length'],
    ['bytes that are not hex', { 52: 'zz23456789abcdef' }, 52, 'wrong_characters'],

    ['a second bitmap given as a value', { 1: '0' }, 1, 'unknown_element'],
    ['a third bitmap', { 65: '0' }, 65, 'tertiary_bitmap'],
    ['elements beyond the last', { 129: '0' }, 129, 'unknown_element'],
  ]
  for (const [name, fields, element, reason] of cases) {
    test(`${name}, on every link`, () => {
      for (const link of Object.values(links)) {
        const refusal = { name: 'MalformedMessage', element, reason }
        assert.throws(() => encode(link, { mti: '0100', fields }), refusal)
      }
    })
  }

  test('an MTI of another version, class, function or origin', () => {
    for (const mti of ['', '010', '01000', '1100', '0000', '0900', '0150', '0106', '01O0']) {
      assert.throws(() => encode(default_link, { mti, fields: {} }), { reason: 'bad_mti' })
    }
  })

  test('an undefined value', () => {
    const fields = { 11: undefined } as unknown as Record<number, string>
    assert.throws(() => encode(default_link, { mti: '0100', fields }), MalformedMessage)
  })

  test('a message longer than the maximum frame', () => {
    const long = 'x'.repeat(999)
    const fields = Object.fromEntries(
      [48, 56, 60, 61, 62, 63, 120].map((element) => [element, long]),
    )
    const rest = { 55: 'ab'.repeat(255), 123: 'y'.repeat(255), 126: 'y'.repeat(255) }
    const most = {
      ...fields,
      ...rest,
      45: 'z'.repeat(76),
      36: '1'.repeat(104),
      54: '0'.repeat(120),
    }
    const all = {
      ...most,
      43: 'p'.repeat(40),
      90: '0'.repeat(42),
      95: '0'.repeat(42),
      102: 'q'.repeat(28),
    }
    const refusal = { reason: 'over_length' }
    assert.throws(() => encode(links.ascii_hex, { mti: '0100', fields: all }), refusal)
    assert.throws(() => decode(default_link, new Uint8Array(8193)), refusal)
  })
})

test('MalformedMessage names element and reason but not the value', () => {
  try {
    encode(default_link, { mti: '0100', fields: { 2: '4761739001010X19' } })
    assert.fail('the value was accepted')
  } catch (fault) {
    assert.ok(fault instanceof MalformedMessage)
    assert.equal(fault.message, 'element 2: wrong_characters')
    assert.ok(!JSON.stringify({ ...fault, text: String(fault.stack) }).includes('476173900101'))
  }
})

test('decodePartially returns the echoed elements and no card data', () => {
  const fields = { 2: '4761739001010119', 7: '0911131411', 11: '123456', 37: '625413123456' }
  const bytes = encode(default_link, { mti: '0100', fields })
  const { 2: _pan, ...echoed } = fields
  assert.deepEqual(decodePartially(default_link, Buffer.concat([bytes, Buffer.from('x')])), {
    mti: '0100',
    fields: echoed,
  })
  const { 37: _reference, ...before } = echoed
  assert.deepEqual(decodePartially(default_link, bytes.subarray(0, -1)), {
    mti: '0100',
    fields: before,
  })
  assert.equal(decodePartially(default_link, Buffer.from('GET / HTTP/1.1')), null)
})

test('a packed length may count bytes, and the pad marks an odd number of digits', () => {
  const counts = { counts: 'bytes', pad: { side: 'right', nibble: 'f' } } as const
  const link = compileLink({
    ...link_tables.bcd,
    overrides: { 2: counts, 32: { counts: 'bytes' } },
  })
  const odd = encode(link, { mti: '0100', fields: { 2: '476173900101011' } })
  assert.equal(hexOf(odd), '0100400000000000000008476173900101011f')
  assert.equal(decode(link, odd).fields[2], '476173900101011')
  const even = encode(link, { mti: '0100', fields: { 2: '4761739001010119' } })
  assert.equal(decode(link, even).fields[2], '4761739001010119')
  const ambiguous = { mti: '0100', fields: { 32: '423' } }
  assert.throws(() => encode(link, ambiguous), { element: 32, reason: 'wrong_length' })
  const twenty_digits = Buffer.from(`0100400000000000000010${'11'.repeat(10)}`, 'hex')
  assert.throws(() => decode(link, twenty_digits), { element: 2, reason: 'over_length' })
})

test('an unknown element is refused in both directions', () => {
  const { 8: _fee, ...elements } = link_tables.ascii.elements
  const link = compileLink({ ...link_tables.ascii, elements })
  const message = { mti: '0800', fields: { 8: '00000000' } }
  const refusal = { element: 8, reason: 'unknown_element' }
  assert.throws(() => encode(link, message), refusal)
  assert.throws(() => decode(link, encode(default_link, message)), refusal)
})

test('another version of the standard is another table', () => {
  const link = compileLink({
    ...link_tables.ascii,
    version: '1',
    overrides: { 39: { kind: 'n', length_max: 3 } },
  })
  const bytes = encode(link, { mti: '1110', fields: { 39: '000' } })
  assert.equal(decode(link, bytes).fields[39], '000')
  assert.throws(() => decode(default_link, bytes), { reason: 'bad_mti' })
})
