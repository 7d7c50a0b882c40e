import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { cellOfId, ID_PREFIXES, idFloor, idMaker, idTimeMs, isId } from './id.ts'

const NOON_MS = Date.UTC(2026, 10, 15, 12)
const newId = idMaker(randomBytes)

/** The 128 bits of an id, read by the specification of TypeID and not by our own code. */
function bitsOf(id: string): string {
  const body = id.slice(id.lastIndexOf('_') + 1)
  const letters = '0123456789abcdefghjkmnpqrstvwxyz'
  const bits = [...body].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0'))
  return bits.join('').slice(2)
}

test('every prefix of the contract makes an id of the TypeID form', () => {
  const public_ones =
    'acct sess key bal tup card ctr txn wd dsp evd wh evt dlv tkt msg aud chg req grant pay apr'
  assert.deepEqual([...ID_PREFIXES].sort(), [...public_ones.split(' '), 'note'].sort())
  for (const prefix of ID_PREFIXES) {
    const id = newId(prefix, NOON_MS)
    assert.match(id, new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))
    assert.ok(isId(prefix, id))
  }
})

test('an id is a UUIDv7: time, version 7, variant 10', () => {
  const bits = bitsOf(newId('card', NOON_MS))
  assert.equal(bits.length, 128)
  assert.equal(Number.parseInt(bits.slice(0, 48), 2), NOON_MS)
  assert.equal(bits.slice(48, 52), '0111')
  assert.equal(bits.slice(64, 66), '10')
})

test('the time of an ID can be read back to the millisecond, at both ends of the range', () => {
  for (const timestamp of [0, 1, NOON_MS, 2 ** 48 - 1]) {
    assert.equal(idTimeMs(newId('grant', timestamp)), timestamp)
  }
  for (const timestamp of [-1, 0.5, Number.NaN, 2 ** 48]) {
    assert.throws(() => newId('card', timestamp), /an id has a time/)
  }
  assert.throws(() => idTimeMs('card_short'), /26 characters/)
})

test('IDs sort by creation time', () => {
  const ids = Array.from({ length: 500 }, (_, at) => newId('evt', NOON_MS + at))
  assert.deepEqual([...ids].sort(), ids)
})

test('twenty thousand IDs of one millisecond are unique and sort in creation order', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('evt', NOON_MS))
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual([...ids].sort(), ids)
})

test('IDs of one millisecond sort in creation order even if other timestamps come between', () => {
  const ids: string[] = []
  for (let at = 0; at < 1_000; at += 1) {
    ids.push(newId('bal', NOON_MS))
    newId('req', NOON_MS + 1 + (at % 7))
  }
  assert.deepEqual([...ids].sort(), ids)
})

test('two nodes do not create the same ID in the same millisecond', () => {
  const other = idMaker(randomBytes)
  const ids = Array.from({ length: 5_000 }, () => [newId('evt', NOON_MS), other('evt', NOON_MS)])
  assert.equal(new Set(ids.flat()).size, 10_000)
})

test('the floor of a timestamp separates its IDs from all earlier ones', () => {
  const floor = idFloor('txn', NOON_MS)
  assert.ok(isId('txn', floor))
  for (let at = 0; at < 200; at += 1) {
    assert.ok(newId('txn', NOON_MS) >= floor)
    assert.ok(newId('txn', NOON_MS - 1) < floor)
  }
})

test('the floor of a timestamp out of range is the nearest valid one', () => {
  assert.equal(idTimeMs(idFloor('txn', -62_167_219_200_000)), 0)
  assert.equal(idTimeMs(idFloor('txn', 2 ** 60)), 2 ** 48 - 1)
  assert.equal(idTimeMs(idFloor('txn', NOON_MS + 0.9)), NOON_MS)
})

test('malformed IDs are refused', () => {
  const id = newId('card', NOON_MS)
  const body = id.slice('card_'.length)
  const strangers = [
    '',
    'card_',
    body,
    `txn_${body}`,
    `card${body}`,
    id.toUpperCase(),
    `${id}0`,
    id.slice(0, -1),
    `${id}\n`,
    ` ${id}`,
    `card_8${body.slice(1)}`,
    `card_${body.slice(0, -1)}u`,
    `card_${body.slice(0, -1)}l`,
    `card_${body.slice(0, -1)}\u0000`,
    `card_${'０'.repeat(26)}`,
  ]
  for (const stranger of strangers) assert.equal(isId('card', stranger), false, stranger)
})

test('an ID of another cell names it, is a UUIDv7 of its time and sorts by it', () => {
  for (const cell of [0, 1, 31, 32, 127]) {
    const make = idMaker(randomBytes, cell)
    const ids = Array.from({ length: 200 }, (_, at) => make('card', NOON_MS + (at >> 1)))
    assert.deepEqual([...ids].sort(), ids)
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) {
      assert.equal(cellOfId(id), cell)
      assert.ok(isId('card', id))
      assert.equal(bitsOf(id).slice(48, 52), '0111')
      assert.equal(bitsOf(id).slice(64, 66), '10')
    }
    assert.equal(idTimeMs(ids[0] ?? ''), NOON_MS)
    assert.ok((ids[0] ?? '') >= idFloor('card', NOON_MS))
  }
})

test('IDs made before there were cells name cell 0', () => {
  const old = ['card_01kc3z8e5xe8m9r4t2v6w7y8za', 'acct_01k9xq0000e0000000zzzzzzzz']
  assert.deepEqual(old.map(cellOfId), [0, 0])
  // The letters after an announced cell that is none.
  assert.equal(cellOfId('card_01kc3z8e5xf8m9r4t2zzw7y8za'), 0)
})
