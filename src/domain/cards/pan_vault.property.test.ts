import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { isPan } from '#iso8583/pan.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { readSettings } from '#settings/settings.ts'
import { cellOfPan, createPan, cvvOf, isCvvOf, openPan, panHash, sealPan } from './pan_vault.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_vault_'))
after(() => rm(folder, { recursive: true, force: true }))
const keys = await loadKeys(join(folder, 'keys.json'), systemRandom)
const CARD = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'

const one_cell = { cell: 0, more_cells: [] }

const bin = fc.constantFrom('400000', '555555', '41234567')

test('a created number has its BIN, passes the Luhn check, decrypts and matches its hash', () => {
  fc.assert(
    fc.property(bin, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (of, part) => {
      const random = { ...systemRandom, below: (limit: number) => Math.floor(part * limit) }
      const created = createPan({ keys, random, settings: one_cell }, of, CARD)
      const pan = openPan(keys, CARD, created.pan_sealed).open()
      assert.ok(isPan(pan) && pan.startsWith(of) && pan.length === 16)
      assert.equal(created.last4, pan.slice(-4))
      assert.equal(created.pan_hash, panHash(keys, pan))
      assert.equal(created.pan_sealed.includes(pan), false)
    }),
    { numRuns: 1_000 },
  )
})

test('10,000 numbers of one BIN have at most two collisions', () => {
  const hashes = new Set(
    Array.from({ length: 10_000 }, () =>
      createPan({ keys, random: systemRandom, settings: one_cell }, '400000', CARD),
    ).map(({ pan_hash }) => pan_hash),
  )
  // With 10^9 numbers, 0.05 collisions are expected; three would mean a broken random source.
  assert.ok(hashes.size >= 9_998, `${hashes.size} of 10000`)
})

test('with several cells, a number names the cell that issued it', () => {
  const listed = [1, 127].map((number) => ({ number, url: `postgres://db${number}/florin` }))
  const { more_cells } = readSettings({ FLORIN_CELLS: JSON.stringify(listed) })
  for (const cell of [0, 1, 127]) {
    const context = { keys, random: systemRandom, settings: { cell, more_cells } }
    const created = Array.from({ length: 5 }, () => createPan(context, '400000', CARD))
    for (const { pan_hash } of created) assert.equal(cellOfPan(pan_hash), cell)
  }
})

test('a sealed number opens only for its own card, and a CVV matches only its own number', () => {
  const sealed = sealPan(keys, CARD, '4000000000000002')
  assert.equal(`${openPan(keys, CARD, sealed)}`, '••••')
  assert.throws(() => openPan(keys, `${CARD}x`, sealed))
  const card = { brand: 'visa', exp_month: 3, exp_year: 2031 } as const
  const cvv = cvvOf(keys, card, '4000000000000002').open()
  assert.ok(isCvvOf(keys, card, { pan: '4000000000000002', cvv }))
  assert.equal(isCvvOf(keys, card, { pan: '4000000000000002', cvv: `${cvv}0` }), false)
  const wrong = [2028, 2029, 2030, 2032].filter((exp_year) =>
    isCvvOf(keys, { ...card, exp_year }, { pan: '4000000000000002', cvv }),
  )
  assert.ok(wrong.length <= 1)
})
