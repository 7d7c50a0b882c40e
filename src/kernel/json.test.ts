import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InexactNumber, JsonError, readJson } from './json.ts'

const refuses = (text: string, sentence: RegExp) =>
  assert.throws(
    () => readJson(text),
    (cause) => cause instanceof JsonError && sentence.test(cause.message),
    text.slice(0, 80),
  )

test('numbers that a float cannot hold become InexactNumber with their text', () => {
  const inexact = [
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1e-400',
    '-0',
    '-0.0',
    '-0e5',
    '0.10000000000000000001',
    '0.30000000000000000001',
    '100000000000000000000001',
    '1.00000000000000000000000001',
    '1e99999',
    '1e-99999',
    `1${'0'.repeat(400)}`,
  ]
  for (const text of inexact) assert.deepEqual(readJson(text), new InexactNumber(text), text)
  const nested = readJson('{"a":[{"amount_usd":1e400}]}') as { a: { amount_usd: unknown }[] }
  assert.ok(nested.a[0]?.amount_usd instanceof InexactNumber)
})

test('numbers that a float holds come out as numbers, whatever their notation', () => {
  const exact: [string, number][] = [
    ['0', 0],
    ['0.1', 0.1],
    ['1.50', 1.5],
    ['1E2', 100],
    ['1e+2', 100],
    ['2500e-2', 25],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', 2 ** 53],
    ['-0.5', -0.5],
    ['0.0000000000000000000000', 0],
    ['1.0000000000000000000000', 1],
    ['5e-324', 5e-324],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['100000000000000000000000', 1e23],
  ]
  for (const [text, number] of exact) assert.equal(readJson(text), number, text)
})

test('a duplicate key is refused, however it is written', () => {
  refuses('{"a":1,"a":1}', /duplicate key/)
  refuses('{"a":1,"b":2,"\\u0061":3}', /duplicate key/)
  refuses('{"__proto__":1,"__proto__":2}', /duplicate key/)
  refuses('{"":1,"":2}', /duplicate key/)
  refuses('{"a" :1,"a":2}', /duplicate key/)
  assert.deepEqual(readJson('[{"a":1},{"a":2}]'), [{ a: 1 }, { a: 2 }])
  assert.deepEqual(readJson('{"toString":1}'), { toString: 1 })
})

test('a hundred levels are read and one more is refused, long before the stack is', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  assert.ok(Array.isArray(readJson(nested(101))))
  refuses(nested(102), /more than 100 levels/)
  refuses('['.repeat(1_000_000), /more than 100 levels/)
  refuses('{"a":'.repeat(1_000_000), /more than 100 levels/)
})

test('__proto__ is a key like any other and touches no prototype', () => {
  const read = readJson('{"__proto__":{"isAdmin":true},"constructor":1}') as Record<string, unknown>
  assert.deepEqual(Object.keys(read), ['__proto__', 'constructor'])
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
  assert.equal(read['isAdmin'], undefined)
  assert.equal(({} as Record<string, unknown>)['isAdmin'], undefined)
})

test('strings that JSON does not allow are refused', () => {
  for (const text of ['"\\x41"', '"\\u12g4"', '"\\u12"', '"\\"', '"\\', '"\\\\\\"']) {
    refuses(text, /invalid escape|unterminated/)
  }
  refuses('"a\nb"', /control character/)
  refuses('"a\u0000b"', /control character/)
  refuses('"never closed', /unterminated/)
  refuses("'single'", /expected a value/)
  assert.equal(readJson('"\\u0041\\n\\"\\\\\\/"'), 'A\n"\\/')
  assert.equal(readJson('"\u2028\u007f😀"'), '\u2028\u007f😀')
})

test('invalid JSON is refused with its position', () => {
  const texts = ['', ' ', '{', '[', '}', ',', '[1,]', '{"a":1,}', '{a:1}', '{"a"}', '{"a":}']
  const more = [
    '[1 2]',
    '01',
    '+1',
    '1.',
    '.5',
    '1e',
    'NaN',
    'Infinity',
    'True',
    'nul',
    'undefined',
  ]
  const last = ['{} {}', '1 1', '\ufeff{}', '//x\n{}', '{"a":1}}', '-', '--1', '0x10', '1_0']
  for (const text of [...texts, ...more, ...last]) refuses(text, /at character \d+$/)
})

test('five hostile megabytes take linear time', () => {
  const size = 5_000_000
  const hostile = [
    `"${'a'.repeat(size)}`,
    `"${'\\'.repeat(size)}`,
    `"${'\\"'.repeat(size / 2)}`,
    `"${'\\\\'.repeat(size / 2)}"`,
    `"${'\\u0061'.repeat(size / 6)}`,
    `[${'"a\\n",'.repeat(size / 6)}`,
    `{${'"a":'.repeat(size / 4)}`,
    `[${'1,'.repeat(size / 2)}`,
    '9'.repeat(size),
    `-${'0'.repeat(size)}`,
    `0.${'0'.repeat(size)}1`,
    `1.${'0'.repeat(size)}1`,
    `1.${'0'.repeat(size)}`,
    `1e${'9'.repeat(size)}`,
    `[${'0.000000000000000000001,'.repeat(size / 24)}`,
    ' '.repeat(size),
    `[${' '.repeat(size)}`,
    `${'[],'.repeat(size / 3)}`,
    't'.repeat(size),
  ]
  for (const text of hostile) {
    const began = process.cpuUsage()
    try {
      readJson(text)
    } catch (cause) {
      assert.ok(cause instanceof JsonError, `${text.slice(0, 20)}… threw ${String(cause)}`)
    }
    const ms = process.cpuUsage(began).user / 1000
    assert.ok(ms < 4_000, `${text.slice(0, 20)}… took ${Math.round(ms)} ms`)
  }
})
