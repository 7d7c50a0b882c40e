import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemRandom } from '#platform/runtime/random.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { bearerHash, bearerKindOf, cellOfBearer, newBearer } from './bearer.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_bearer_'))
after(() => rm(folder, { recursive: true, force: true }))
const keys = await loadKeys(join(folder, 'keys.json'), systemRandom)
const dependencies = { random: systemRandom, keys, livemode: false, cell: 0 }

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

test('a bearer names its kind and mode and has 260 random bits and a checksum', () => {
  const examples = [
    [newBearer('session', dependencies), /^fls_test_[0-9a-hjkmnp-tv-z]{58}$/],
    [newBearer('api_key', dependencies), /^flk_test_[0-9a-hjkmnp-tv-z]{58}$/],
    [
      newBearer('api_key', { ...dependencies, livemode: true }),
      /^flk_live_[0-9a-hjkmnp-tv-z]{58}$/,
    ],
  ] as const
  for (const [bearer, pattern] of examples) assert.match(bearer.text.open(), pattern)
})

test('all characters are equally likely', () => {
  const counts = new Map<string, number>()
  for (let at = 0; at < 400; at += 1) {
    const body = newBearer('session', dependencies).text.open().slice(9, 61)
    for (const character of body) counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  // 650 of each are expected; seven standard deviations are 176.
  for (const character of ALPHABET) {
    const count = counts.get(character) ?? 0
    assert(Math.abs(count - 650) < 176, `${character} occurred ${count} times`)
  }
})

test('the kind is recognized, and every single typo is detected', () => {
  for (const kind of ['session', 'api_key'] as const) {
    const text = newBearer(kind, dependencies).text.open()
    assert.equal(bearerKindOf(text), kind)
    for (let at = 9; at < text.length; at += 1) {
      const character = ALPHABET[(ALPHABET.indexOf(text[at] ?? '') + 1) % 32]
      assert.equal(bearerKindOf(text.slice(0, at) + character + text.slice(at + 1)), 'mistyped')
    }
    assert.equal(bearerKindOf(text.replace('_test_', '_live_')), 'mistyped')
    assert.equal(bearerKindOf(text.slice(0, -1)), 'mistyped')
    assert.equal(bearerKindOf(`${text}0`), 'mistyped')
    assert.equal(bearerKindOf(`${text}\n`), 'mistyped')
    assert.equal(bearerKindOf(text.toUpperCase()), null)
  }
  for (const other of ['', 'fl', 'Bearer', 'eyJhbGciOi.J.x'])
    assert.equal(bearerKindOf(other), null)
})

test('the stored hash depends on a key that is not in the database', async () => {
  const bearer = newBearer('api_key', dependencies)
  const text = bearer.text.open()
  assert.equal(bearer.hash, bearerHash(keys, text))
  assert(!bearer.hash.includes(text.slice(9, 20)))
  const others = await loadKeys(join(folder, 'other_keys.json'), systemRandom)
  assert.notEqual(bearerHash(others, text), bearer.hash)
})

test('the prefix shows eight characters, and a bearer is masked when printed', () => {
  const bearer = newBearer('api_key', dependencies)
  assert.equal(bearer.shown_prefix, bearer.text.open().slice(0, 'flk_test_'.length + 8))
  assert.equal(`${bearer.text} ${JSON.stringify(bearer.text)}`.includes('flk_'), false)
})

test('a bearer names its cell behind its 260 random bits, and one of cell 0 names none', () => {
  for (const cell of [0, 1, 31, 32, 127]) {
    const text = newBearer('api_key', { ...dependencies, cell }).text.open()
    assert.equal(text.length, cell === 0 ? 67 : 69)
    assert.equal(bearerKindOf(text), 'api_key')
    assert.equal(cellOfBearer(text), cell)
  }
  const of_cell = newBearer('session', { ...dependencies, cell: 5 }).text.open()
  const other_cell = `${of_cell.slice(0, 61)}06${of_cell.slice(63)}`
  assert.equal(bearerKindOf(other_cell), 'mistyped', 'the checksum covers the cell')
  assert.equal(cellOfBearer(`${of_cell.slice(0, 61)}zz${of_cell.slice(63)}`), null)
  assert.equal(cellOfBearer('an OAuth token'), null)
})
