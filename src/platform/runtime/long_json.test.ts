import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InexactNumber, JsonError } from '#kernel/json.ts'
import { readLongJson } from './long_json.ts'

const read = (text: string) => readLongJson(Buffer.from(text))

test('long JSON parses to the same values, whatever its strings contain and wherever they are cut', async () => {
  const filler = 'x'.repeat(262_140)
  const strings = [
    'short',
    'y'.repeat(4_095),
    'y'.repeat(4_096),
    'y'.repeat(5_000_000),
    '"'.repeat(300_000),
    '\\'.repeat(300_001),
    `${filler}\u2028\n"\\/${filler}\u0007`,
    `${'ü😀'.repeat(200_000)}`,
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((at) => `${'a'.repeat(262_144 - at)}\u0001\\"${filler}`),
  ]
  const value = { a: strings, b: { c: [1, true, null, { d: strings[3] }] } }
  assert.deepEqual(await read(JSON.stringify(value)), value)
  assert.deepEqual(await read(JSON.stringify(value, null, 2)), value)
  const escaped = `"${'\\u00e9\\/'.repeat(100_000)}"`
  assert.equal(await read(escaped), 'é/'.repeat(100_000))
  const number = (await read(`{"a":${'9'.repeat(1_000_000)},"b":"${filler}"}`)) as { a: unknown }
  assert.ok(number.a instanceof InexactNumber)
})

test('long text that is not JSON is refused, wherever the error is', async () => {
  const long = 'x'.repeat(300_000)
  const wrong = [
    `"${long}`,
    `"${long}\n"`,
    `"${long}\\u12"`,
    `"${long}\\x${long}"`,
    `{"${long}":1}`,
    `["${long}" "${long}"]`,
    `["${long}",\u0001]`,
    `\u0001`,
    `["${long}"]]`,
    ' '.repeat(2_000_000),
    `[${'"",'.repeat(100_000)}""]`,
    `["${long}"${',1'.repeat(20_000)}]`,
    '['.repeat(2_000_000),
  ]
  for (const text of wrong) await assert.rejects(read(text), JsonError, text.slice(0, 20))
})
