import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { cloneDatabase } from '#test/support/database.ts'
import { openDatabase, type Tx } from './db.ts'
import { rowSet } from './row_set.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 1 })
after(async () => {
  await db.close()
  await clone.drop()
})
await db.run(`
  create table things (
    name text, number bigint, flag boolean, at timestamptz, bytes bytea, words text[],
    check (number <> 13), unique (name))`)

type Thing = {
  name: string | null
  number: bigint | null
  flag: boolean | null
  at: Date | null
  bytes: Buffer | null
  words: string[] | null
}

const addThings = rowSet<Thing>('things', {
  name: ['text', ({ name }) => name],
  number: ['bigint', ({ number }) => number],
  flag: ['boolean', ({ flag }) => flag],
  at: ['timestamptz', ({ at }) => at],
  bytes: ['bytea', ({ bytes }) => bytes],
  words: ['text[]', ({ words }) => words],
})

const added = (to: Tx, rows: readonly Thing[]) => to.write(addThings(rows))

const thing = (given: Partial<Thing>): Thing => ({
  name: null,
  number: null,
  flag: null,
  at: null,
  bytes: null,
  words: null,
  ...given,
})

const kept = () => db.rows<Thing>('select name, number, flag, at, bytes, words from things')

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test('every value of a row is stored unchanged, and rows are counted', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''))
  const long = fc.constantFrom('"', '\\', '{}', 'NULL', 'é'.repeat(70_000))
  const timestamp = fc.date({
    min: new Date('1901-01-01'),
    max: new Date('2300-01-01'),
    noInvalidDate: true,
  })
  const things = fc.uniqueArray(
    fc.record<Thing>(
      {
        name: fc.option(fc.oneof(text, long)),
        number: fc.option(
          fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((n) => n !== 13n),
        ),
        flag: fc.option(fc.boolean()),
        at: fc.option(timestamp),
        bytes: fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
        words: fc.option(fc.array(fc.oneof(text, long), { maxLength: 4 })),
      },
      { noNullPrototype: true },
    ),
    { selector: ({ name }) => name ?? {}, maxLength: 40 },
  )
  const property = fc.asyncProperty(things, async (rows) => {
    await db.run('truncate things')
    assert.equal(await added(db, rows), rows.length)
    assert.deepEqual(await kept(), rows)
  })
  await fc.assert(property, { seed, numRuns: 60 })
})

test('rows that violate a constraint are refused together, and the connection stays usable', async () => {
  await db.run('truncate things')
  const rows = [thing({ number: 1n }), thing({ number: 13n })]
  await assert.rejects(added(db, rows), { code: '23514' })
  await assert.rejects(added(db, [thing({ name: 'a' }), thing({ name: 'a' })]), {
    code: '23505',
  })
  assert.deepEqual(await kept(), [])
  assert.equal(await added(db, [thing({ name: 'b' })]), 1)
})

test('rows sent after a failed statement are discarded, and the next statement works', async () => {
  await db.run('truncate things')
  const failing = db.transaction(async (tx) => {
    const sent = [tx.run('select 1 / 0'), added(tx, [thing({ name: 'c' })]), tx.run('select 1')]
    const [first, copied, last] = await Promise.allSettled(sent)
    assert.deepEqual([first?.status, copied?.status, last?.status], Array(3).fill('rejected'))
    throw new Error('enough')
  })
  await assert.rejects(failing, { message: 'enough' })
  assert.deepEqual(await kept(), [])
  assert.equal(await added(db, [thing({ name: 'd' })]), 1)
})

test('in a transaction rows are written in the order of its statements', async () => {
  await db.run('truncate things')
  const counts = await db.transaction(async (tx) => {
    const count = () => tx.rows<{ count: bigint }>('select count(*) from things')
    const [before, , behind] = await Promise.all([
      count(),
      added(tx, [thing({ name: 'e' }), thing({ name: 'f' })]),
      count(),
    ])
    return [before[0]?.count, behind[0]?.count]
  })
  assert.deepEqual(counts, [0n, 2n])
})
