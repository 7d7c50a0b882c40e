import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { InexactNumber, JsonError, readJson } from './json.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const runs = { seed, numRuns: 3_000 }

/** Minus zero is not an ordinary value: JSON.stringify writes it as 0, so it never comes back. */
const ordinary = fc.jsonValue({ maxDepth: 5 })

test('an ordinary value is read as JSON.parse reads it, spaces or not', (t) => {
  t.diagnostic(`seed ${seed}`)
  const property = fc.property(ordinary, fc.constantFrom(0, 1, '\t', '\n\r '), (value, space) => {
    const text = JSON.stringify(value, null, space)
    assert.deepEqual(readJson(text), JSON.parse(text))
    assert.deepEqual(readJson(` \r\n\t${text} \n`), JSON.parse(text))
  })
  fc.assert(property, runs)
})

const token = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\u', '\\ud800', '\\"', 'true', 'fals', 'null'],
  ...['-', '0', '1', '.5', 'e', 'e+', '1e400', '-0', '01', '"a":', '"__proto__":', ' ', '\n'],
  ...['\u0000', '\u001f', '\u2028', '\ufeff', '😀', '\ud800'],
)

test('no text whatever brings out anything but a value or a JsonError', (t) => {
  t.diagnostic(`seed ${seed}`)
  const text = fc.oneof(
    fc.array(token, { maxLength: 30 }).map((tokens) => tokens.join('')),
    fc.string({ unit: 'binary', maxLength: 60 }),
  )
  const property = fc.property(text, (written) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(written)
    } catch {
      assert.throws(() => readJson(written), JsonError)
      return
    }
    try {
      assert.deepEqual(plain(readJson(written)), plain(parsed))
    } catch (cause) {
      if (!(cause instanceof JsonError)) throw cause
      assert.match(cause.message, /duplicate key|levels deep/)
    }
  })
  fc.assert(property, { ...runs, numRuns: 10_000 })
})

/** The same without what only one of the two readers can say: numbers that a float cannot hold. */
function plain(value: unknown): unknown {
  if (value instanceof InexactNumber) return Number(value.text) || 0
  if (typeof value === 'number') return value || 0
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  return Object.entries(value).map(([key, member]) => [key, plain(member)])
}

const digits = fc.bigInt({ min: 0n, max: 10n ** 25n }).map(String)

test('a number comes out as a float only where the float prints the same decimal', (t) => {
  t.diagnostic(`seed ${seed}`)
  const exponent = fc.option(fc.integer({ min: -30, max: 30 }))
  const property = fc.property(fc.boolean(), digits, fc.option(digits), exponent, (...parts) => {
    const [negative, whole, fraction, power] = parts
    const sign = negative ? '-' : ''
    const text = `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`
    const written = power === null ? text : `${text}e${power}`
    const read = readJson(written)
    const isSame = sameDecimal(written, String(Number(written)))
    if (isSame) assert.equal(read, Number(written))
    else assert.deepEqual(read, new InexactNumber(written))
  })
  fc.assert(property, runs)
})

/** Compared as whole numbers of 10^-100, in bigint: another way than the reader's own. */
function sameDecimal(a: string, b: string): boolean {
  if (a.startsWith('-') !== b.startsWith('-')) return false
  const scaled = (text: string) => {
    const [number = '', power = '0'] = text.replace(/^-/, '').split('e')
    const [whole = '', fraction = ''] = number.split('.')
    return BigInt(whole + fraction) * 10n ** BigInt(100 + Number(power) - fraction.length)
  }
  return scaled(a) === scaled(b)
}
