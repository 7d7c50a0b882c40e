import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seed } from '#test/fixtures/iso8583/random_messages.ts'
import { MalformedMessage } from './malformed_message.ts'
import {
  readAdditionalAmounts,
  readCardAcceptor,
  readOriginalDataElements,
  readReplacementAmounts,
  writeAdditionalAmounts,
  writeCardAcceptor,
  writeOriginalDataElements,
  writeReplacementAmounts,
} from './subfields.ts'
import { readPrivateTags, writePrivateTags } from './tags.ts'

function textOf(characters: string, length: { minLength: number; maxLength: number }) {
  return fc.string({ unit: fc.constantFrom(...characters), ...length })
}

const exactly = (length: number) => ({ minLength: length, maxLength: length })
const digits = (length: number) => textOf('0123456789', exactly(length))
const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('')
const text = (maxLength: number) =>
  textOf(printable, { minLength: 0, maxLength }).map((value) => value.replace(/ +$/, ''))

const plain = { noNullPrototype: true } as const
const runs = { seed, numRuns: 300 }

test('element 43 has name, city and country without padding', (t) => {
  t.diagnostic(`seed ${seed}`)
  const value = 'CORNER SHOP              BERLIN       DE'
  assert.deepEqual(readCardAcceptor(value), { name: 'CORNER SHOP', city: 'BERLIN', country: 'DE' })
  assert.equal(readCardAcceptor(' '.repeat(40)).country, '')
  assert.equal(readCardAcceptor(`${value.slice(0, 38)}de`).country, 'DE')
  const country = textOf('ABCXYZ', exactly(2))
  const place = fc.record({ name: text(25), city: text(13), country }, plain)
  fc.assert(
    fc.property(place, (each) => {
      assert.equal(writeCardAcceptor(each).length, 40)
      assert.deepEqual(readCardAcceptor(writeCardAcceptor(each)), each)
    }),
    runs,
  )
})

test('element 90 identifies the original message, with zero-filled institution ids', (t) => {
  t.diagnostic(`seed ${seed}`)
  const original = {
    mti: '0100',
    stan: '123456',
    transmission_time: '0911131411',
    acquirer: '423935',
    forwarder: '0',
  }
  const value = '010012345609111314110000042393500000000000'
  assert.equal(writeOriginalDataElements(original), value)
  assert.equal(readOriginalDataElements(value).acquirer, '00000423935')
  fc.assert(
    fc.property(digits(42), (each) =>
      assert.equal(writeOriginalDataElements(readOriginalDataElements(each)), each),
    ),
    runs,
  )
})

test('element 95 begins with the replacement amount', (t) => {
  t.diagnostic(`seed ${seed}`)
  const value = `000000002000${'0'.repeat(12)}D00000000C00000000`
  assert.equal(readReplacementAmounts(value).transaction_amount, '000000002000')
  const fee = fc.tuple(fc.constantFrom('C', 'D', '0'), digits(8)).map((parts) => parts.join(''))
  const amounts = fc.tuple(digits(24), fee, fee).map((parts) => parts.join(''))
  fc.assert(
    fc.property(amounts, (each) =>
      assert.equal(writeReplacementAmounts(readReplacementAmounts(each)), each),
    ),
    runs,
  )
})

test('element 54 is up to six amounts of twenty characters', (t) => {
  t.diagnostic(`seed ${seed}`)
  assert.deepEqual(readAdditionalAmounts('1002840C000000012345'), [
    { account_type: '10', amount_type: '02', currency: '840', sign: 'C', amount: '000000012345' },
  ])
  const amount = fc
    .tuple(digits(7), fc.constantFrom('C', 'D'), digits(12))
    .map((parts) => parts.join(''))
  const list = fc.array(amount, { maxLength: 6 }).map((amounts) => amounts.join(''))
  fc.assert(
    fc.property(list, (each) =>
      assert.equal(writeAdditionalAmounts(readAdditionalAmounts(each)), each),
    ),
    runs,
  )
  assert.throws(() => readAdditionalAmounts('1002840C000000012345'.repeat(7)), { element: 54 })
})

test('element 48 is a list of unique tags', (t) => {
  t.diagnostic(`seed ${seed}`)
  assert.deepEqual(readPrivateTags('6102AB9203123'), [
    { tag: '61', value: 'AB', at: 4 },
    { tag: '92', value: '123', at: 10 },
  ])
  assert.deepEqual(readPrivateTags('T9203123', 1), [{ tag: '92', value: '123', at: 5 }])
  assert.throws(() => readPrivateTags('92031239203123'), { element: 48, reason: 'bad_subfield' })
  assert.throws(() => writePrivateTags([{ tag: '92', value: 'x'.repeat(100) }]), MalformedMessage)
  const tag = fc.record(
    { tag: digits(2), value: textOf(printable, { minLength: 0, maxLength: 99 }) },
    plain,
  )
  const tags = fc.uniqueArray(tag, { selector: (each) => each.tag, maxLength: 9 })
  fc.assert(
    fc.property(tags, (list) => {
      const read = readPrivateTags(writePrivateTags(list))
      assert.deepEqual(
        read.map(({ tag, value }) => ({ tag, value })),
        list,
      )
    }),
    runs,
  )
})

test('subfields that are too long, missing or invalid are refused', () => {
  const place = { name: 'SHOP', city: 'BERLIN', country: 'DE' }
  assert.throws(() => writeCardAcceptor({ ...place, name: 'x'.repeat(26) }), { element: 43 })
  assert.throws(() => writeCardAcceptor({ ...place, country: 'de' }), { element: 43 })
  assert.throws(() => writeCardAcceptor({ ...place, city: 'KÖLN' }), { element: 43 })
  const missing = { name: 'SHOP', city: 'BERLIN' } as Parameters<typeof writeCardAcceptor>[0]
  assert.throws(() => writeCardAcceptor(missing), MalformedMessage)
})

test('random input throws only MalformedMessage', (t) => {
  t.diagnostic(`seed ${seed}`)
  const readers = [
    readCardAcceptor,
    readOriginalDataElements,
    readReplacementAmounts,
    readAdditionalAmounts,
    readPrivateTags,
  ]
  const garbage = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 130 }),
    textOf('0123456789CD ', { minLength: 0, maxLength: 130 }),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  )
  const property = fc.property(fc.constantFrom(...readers), garbage, (read, value) => {
    try {
      read(value)
    } catch (fault) {
      assert.ok(fault instanceof MalformedMessage)
      assert.equal(fault.reason, 'bad_subfield')
    }
  })
  fc.assert(property, { seed, numRuns: 5000 })
  for (const read of [readCardAcceptor, readOriginalDataElements, readReplacementAmounts]) {
    for (const value of [
      '',
      '0',
      'x'.repeat(39),
      '\n'.repeat(40),
      '~'.repeat(42),
      '0'.repeat(43),
    ]) {
      assert.throws(() => read(value), MalformedMessage)
    }
  }
})
