import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { goldenFrame } from '#test/fixtures/iso8583/golden_frames.ts'
import {
  messageArbitrary,
  randomIntOf,
  seed,
  valueArbitrary,
} from '#test/fixtures/iso8583/random_messages.ts'
import { element_names, nameFields } from './element_names.ts'
import type { Layout, Link } from './link.ts'
import { default_link, links } from './links.ts'
import { maskBytes, maskPan, readMasked } from './mask.ts'
import { decode, encode } from './message.ts'
import { generatePan } from './pan.ts'
import { elements_1987 } from './spec.ts'

/** A text as its bytes, in every encoding that a link uses. */
function tracesOf(text: string): string[] {
  const ascii = Buffer.from(text, 'latin1').toString('hex')
  const ebcdic = [...text].map((letter) => `f${letter}`).join('')
  return [text.replaceAll('=', 'd'), ascii, ebcdic]
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The masked bytes of a message, and the elements that are read from them. */
function maskedOf(link: Link, bytes: Uint8Array) {
  const raw = maskBytes(link, decode(link, bytes))
  return { raw, ...readMasked(link, raw) }
}

describe('of a chip purchase', () => {
  for (const link of Object.values(links)) {
    test(`${link.name}: no card number, track, PIN or EMV data remains`, () => {
      const masked = maskedOf(link, goldenFrame(`chip_${link.name}`))
      const secrets = ['476173900101010', '476173900101010=28122010000012345', '0123456789abcdef']
      const text = JSON.stringify(masked.fields) + hexOf(masked.raw)
      for (const trace of [...secrets, 'a1b2c3d4e5f60718'].flatMap(tracesOf)) {
        assert.ok(!text.includes(trace), `${trace} is left`)
      }
      assert.equal(masked.fields[2], '476173*****1010')
      assert.equal(masked.fields[102], '476173*****1010')
      for (const element of [35, 52, 55]) assert.equal(masked.fields[element], undefined)
      assert.equal(masked.fields[64], 'fedcba9876543210')
    })
  }
})

describe('of a purchase', () => {
  for (const link of Object.values(links)) {
    test(`${link.name}: expiry and CVV are hidden, other elements are shown`, () => {
      const message = decode(link, goldenFrame(`purchase_${link.name}`))
      const { fields, raw } = maskedOf(link, message.raw)
      assert.equal(fields[14], '****')
      assert.equal(fields[48], undefined)
      assert.equal(fields[43], message.fields[43])
      assert.equal(raw.length, message.raw.length)
      for (const secret of ['4761739001010119', '9203123']) {
        for (const trace of tracesOf(secret)) assert.ok(!hexOf(raw).includes(trace))
      }
    })
  }
})

test('bytes are masked in the encoding of the link', () => {
  const fields = { 2: '476173900101011', 14: '2812' }
  const masked = (link: Link) =>
    hexOf(maskedOf(link, encode(link, { mti: '0100', fields })).raw).slice(-26)
  assert.equal(masked(links.ascii), Buffer.from('7617*****1011****').toString('hex').slice(-26))
  assert.equal(masked(links.bcd).slice(-20), '0476173fffff1011ffff')
  assert.equal(masked(links.mastercard_like), 'f15c5c5c5c5cf1f0f1f15c5c5c5c'.slice(-26))
})

test('only secret tags of element 48 are hidden, and all of it if it is not readable', () => {
  const shown = (link: Link, value: string) => {
    const bytes = encode(link, { mti: '0100', fields: { 48: value } })
    const { fields, raw } = maskedOf(link, bytes)
    return { value: fields[48], raw: Buffer.from(raw).toString('latin1').slice(15) }
  }
  assert.deepEqual(shown(links.ascii, '6102AB92031234203XYZ'), {
    value: '6102AB4203XYZ',
    raw: '6102AB9203***4203XYZ',
  })
  assert.deepEqual(shown(links.ascii, '9203123'), { value: undefined, raw: '9203***' })
  assert.deepEqual(shown(links.ascii, 'CVV2 123'), { value: undefined, raw: '********' })
  assert.equal(shown(links.mastercard_like, 'T4203XYZ9203123').value, 'T4203XYZ')
  assert.equal(shown(links.visa_like, '6102AB').value, undefined)
})

test('a card number of fewer than 13 digits is hidden entirely', () => {
  assert.equal(maskPan('4532121234561234'), '453212******1234')
  assert.equal(maskPan('4532121234567'), '453212***4567')
  assert.equal(maskPan('453212123456'), '************')
  assert.equal(maskPan(''), '')
})

const isSecret = (element: number): boolean => elements_1987[element]?.[4] !== 'plain'

/** Values of the hidden elements, of the same lengths and the same shown digits each time. */
function secretsOf(link: Link, random: number): Record<number, string> {
  const randomInt = randomIntOf(random)
  const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('')
  const pan = `476173${digits(6)}0119`
  const cvv = digits(3)
  const category = link.private_tags?.skip === 1 ? 'T' : ''
  return {
    2: pan,
    14: digits(4),
    34: `476173${digits(8)}0119`,
    35: `${pan}=${digits(17)}`,
    36: `${pan}=${digits(40)}`,
    45: `B${pan}^DOE/JANE^${digits(17)}`,
    47: digits(30),
    48: link.private_tags === null ? `CVV2 ${cvv}` : `${category}6102AB9203${cvv}`,
    52: digits(16),
    55: digits(60),
    102: `ACCT ${pan}`,
    123: digits(30),
    126: digits(30),
    127: digits(30),
  }
}

for (const link of Object.values(links)) {
  test(`${link.name}: the masked message does not depend on any secret`, (t) => {
    t.diagnostic(`seed ${seed}`)
    const pair = fc.tuple(fc.nat(), fc.nat())
    const property = fc.property(messageArbitrary(link), pair, ({ mti, fields }, [one, other]) => {
      const masks = [one, other].map((random) => {
        const full = { ...fields, ...secretsOf(link, random) }
        return maskBytes(link, decode(link, encode(link, { mti, fields: full })))
      })
      assert.deepEqual(masks[0], masks[1])
    })
    fc.assert(property, { seed, numRuns: 200 })
  })
}

test('any message can be masked, and elements without secrets are unchanged', (t) => {
  t.diagnostic(`seed ${seed}`)
  for (const link of Object.values(links)) {
    const plain = fc.property(messageArbitrary(link), (message) => {
      const read = decode(link, encode(link, message))
      const { fields } = maskedOf(link, read.raw)
      assert.equal(Object.keys(nameFields(fields)).length, Object.keys(fields).length)
      const sought = [2, 34, 35, 45].some((element) => read.fields[element])
      for (const [key, value] of Object.entries(read.fields)) {
        if (isSecret(Number(key)) || sought || key === '120') continue
        assert.equal(fields[Number(key)], value)
      }
    })
    fc.assert(plain, { seed, numRuns: 100 })
  }
})

test('dropped elements are removed whatever their length', (t) => {
  t.diagnostic(`seed ${seed}`)
  for (const link of Object.values(links)) {
    for (const element of [35, 36, 45, 52, 55, 123, 126]) {
      const layout = link.layouts[element] as Layout
      const property = fc.property(valueArbitrary(layout), (value) => {
        const bytes = encode(link, { mti: '0100', fields: { [element]: value } })
        assert.deepEqual(maskedOf(link, bytes).fields, {})
      })
      fc.assert(property, { seed, numRuns: 20 })
    }
  }
})

test('a card number from a track is also hidden in other elements', () => {
  const pan = generatePan('476173', randomIntOf(seed))
  const fields = { 35: `${pan}=28121010000`, 60: `PAN ${pan}.`, 103: pan }
  const masked = maskedOf(default_link, encode(default_link, { mti: '0100', fields }))
  assert.deepEqual(masked.fields, { 60: `PAN ${maskPan(pan)}.`, 103: maskPan(pan) })
  for (const trace of tracesOf(pan)) assert.ok(!hexOf(masked.raw).includes(trace))
})

test('masking stays fast if the card number occurs everywhere', () => {
  const pan = '0'.repeat(12)
  const long = Object.fromEntries(
    [46, 47, 56, 60, 61, 62, 63].map((each) => [each, '0'.repeat(999)]),
  )
  const fields = { 2: pan, 34: pan, 35: `${pan}=`, 45: `B${pan}^`, ...long }
  const message = decode(default_link, encode(default_link, { mti: '0100', fields }))
  let fastest_ms = Number.POSITIVE_INFINITY
  for (let round = 0; round < 10; round += 1) {
    const began_ms = performance.now()
    const masked = maskBytes(default_link, message)
    fastest_ms = Math.min(fastest_ms, performance.now() - began_ms)
    assert.equal(readMasked(default_link, masked).fields[60], '*'.repeat(999))
  }
  assert.ok(fastest_ms < 3, `${fastest_ms} ms`)
})

test('a message without card data reads as it was sent', (t) => {
  t.diagnostic(`seed ${seed}`)
  const shown = { 41: 'A"B\\C/D~', 43: '\\"'.repeat(20), 60: ' ', 63: '', 128: 'fedcba9876543210' }
  const bytes = encode(default_link, { mti: '0100', fields: shown })
  assert.deepEqual(maskedOf(default_link, bytes).fields, shown)
  for (const link of Object.values(links)) {
    const property = fc.property(messageArbitrary(link), (message) => {
      const read = decode(link, encode(link, message))
      assert.equal(maskedOf(link, read.raw).bitmap_hex, read.bitmap_hex)
    })
    fc.assert(property, { seed, numRuns: 100 })
  }
})

test('every element has a unique snake_case name', () => {
  const names = Object.values(element_names)
  assert.equal(new Set(names).size, Object.keys(elements_1987).length)
  assert.ok(names.every((name) => /^[a-z][a-z0-9_]+$/.test(name)))
  assert.equal(element_names[2], 'primary_account_number')
  assert.equal(element_names[3], 'processing_code')
})
