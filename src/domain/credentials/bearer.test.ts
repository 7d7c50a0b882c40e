import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemRandom } from '#platform/runtime/random.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { bearerHash, bearerKindOf, newBearer } from './bearer.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_bearer_'))
after(() => rm(folder, { recursive: true, force: true }))
const keys = await loadKeys(join(folder, 'keys.json'), systemRandom)
const dependencies = { random: systemRandom, keys, livemode: false }

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

test('a bearer says its kind and mode, and has 260 random bits and a checksum', () => {
  const forms = [
    [newBearer('session', dependencies), /^fls_test_[0-9a-hjkmnp-tv-z]{58}$/],
    [newBearer('api_key', dependencies), /^flk_test_[0-9a-hjkmnp-tv-z]{58}$/],
    [
      newBearer('api_key', { ...dependencies, livemode: true }),
      /^flk_live_[0-9a-hjkmnp-tv-z]{58}$/,
    ],
  ] as const
  for (const [bearer, form] of forms) assert.match(bearer.text.open(), form)
})

test('every letter of the alphabet comes up about as often as any other', () => {
  const counts = new Map<string, number>()
  for (let at = 0; at < 400; at += 1) {
    const body = newBearer('session', dependencies).text.open().slice(9, 61)
    for (const letter of body) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  // 650 of each are expected; seven standard deviations are 176.
  for (const letter of ALPHABET) {
    const count = counts.get(letter) ?? 0
    assert(Math.abs(count - 650) < 176, `${letter} came up ${count} times`)
  }
})

test('its kind is read back, and any single typo in it is noticed', () => {
  for (const kind of ['session', 'api_key'] as const) {
    const text = newBearer(kind, dependencies).text.open()
    assert.equal(bearerKindOf(text), kind)
    for (let at = 9; at < text.length; at += 1) {
      const letter = ALPHABET[(ALPHABET.indexOf(text[at] ?? '') + 1) % 32]
      assert.equal(bearerKindOf(text.slice(0, at) + letter + text.slice(at + 1)), 'mistyped')
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

test('what is stored is a hash under a key that the database does not hold', async () => {
  const bearer = newBearer('api_key', dependencies)
  const text = bearer.text.open()
  assert.equal(bearer.hash, bearerHash(keys, text))
  assert(!bearer.hash.includes(text.slice(9, 20)))
  const others = await loadKeys(join(folder, 'other_keys.json'), systemRandom)
  assert.notEqual(bearerHash(others, text), bearer.hash)
})

test('what is shown of it later is eight letters, and it never prints by itself', () => {
  const bearer = newBearer('api_key', dependencies)
  assert.equal(bearer.shown_prefix, bearer.text.open().slice(0, 'flk_test_'.length + 8))
  assert.equal(`${bearer.text} ${JSON.stringify(bearer.text)}`.includes('flk_'), false)
})
