import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { cloneDatabase } from '#test/support/database.ts'
import { ConcurrentUpdate } from './concurrent_update.ts'
import { openDatabase } from './db.ts'
import { rowUpdate } from './row_update.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 1 })
after(async () => {
  await db.close()
  await clone.drop()
})

await db.run(`create table shelves (
  id text collate "C" primary key, amount bigint not null default 0, label text, day date,
  moved_at timestamptz, version bigint not null default 1)`)

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

type Shelf = {
  id: string
  amount: bigint
  read: bigint
  label: string | null
  day: string | null
  moved_at: Date | null
}

const updateShelves = rowUpdate<Shelf>('shelves', {
  key: { id: ['text', (shelf) => shelf.id] },
  read: { amount: ['bigint', (shelf) => shelf.read] },
  set: {
    amount: ['bigint', (shelf) => shelf.amount],
    label: ['text', (shelf) => shelf.label],
    day: ['date', (shelf) => shelf.day],
    moved_at: ['timestamptz', (shelf) => shelf.moved_at, (at) => `coalesce(${at}, t.moved_at)`],
    version: ['bigint', () => 1n, (changes) => `t.version + ${changes}`],
  },
})

const then = new Date('2026-03-01T10:00:00Z')

async function fill(...ids: string[]): Promise<void> {
  await db.run('delete from shelves')
  for (const id of ids)
    await db.run('insert into shelves (id, moved_at) values ($1, $2)', [id, then])
}

const shelves = () =>
  db.rows('select id, amount, label, day::text, moved_at, version from shelves order by id')

const changed = (id: string, changes: Partial<Shelf> = {}): Shelf => {
  return { id, amount: 5n, read: 0n, label: null, day: null, moved_at: null, ...changes }
}

for (const count of [1, 2, 3]) {
  test(`a write of ${count} of three rows changes these and no other`, async (t) => {
    t.diagnostic(`seed ${seed}`)
    const values = fc.record({
      amount: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      label: fc.option(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))),
      day: fc.constantFrom(null, '2026-02-28', '1999-12-31'),
      moved_at: fc.constantFrom(null, new Date('2026-11-18T23:59:59.999Z')),
    })
    const some = fc.array(values, { minLength: count, maxLength: count })
    const property = fc.asyncProperty(some, async (changes) => {
      await fill('a', 'b', 'c')
      await db.write(updateShelves(changes.map((each, at) => changed('abc'[at] ?? '', each))))
      const expected = ['a', 'b', 'c'].map((id, at) => {
        const change = changes[at]
        if (change === undefined)
          return { id, amount: 0n, label: null, day: null, moved_at: then, version: 1n }
        return { id, ...change, moved_at: change.moved_at ?? then, version: 2n }
      })
      assert.deepEqual(await shelves(), expected)
    })
    await fc.assert(property, { seed, numRuns: 25 })
  })

  test(`a write of ${count} rows changes none if one has changed since it was read`, async () => {
    const ids = ['a', 'b', 'c'].slice(0, count)
    await fill(...ids)
    const before = await shelves()
    const rows = ids.map((id, at) => changed(id, { read: at === count - 1 ? 1n : 0n }))
    await assert.rejects(db.write(updateShelves(rows)), ConcurrentUpdate)
    assert.deepEqual(await shelves(), before)
  })
}

test('a write of a row that does not exist fails', async () => {
  await fill('a')
  await assert.rejects(db.write(updateShelves([changed('b')])), ConcurrentUpdate)
  await assert.rejects(db.write(updateShelves([changed('a'), changed('b')])), ConcurrentUpdate)
})
