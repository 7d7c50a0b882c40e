import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { cloneDatabase } from '#test/support/database.ts'
import { bigints, days, ints, texts, timestamps } from './columns.ts'
import { openDatabase } from './db.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 1 })
after(async () => {
  await db.close()
  await clone.drop()
})

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** The values of a column after PostgreSQL has unnested it. */
async function unnested(type: string, column: Buffer): Promise<unknown[]> {
  const rows = await db.rows<{ value: unknown }>(`select unnest($1::${type}[]) as value`, [column])
  return rows.map(({ value }) => value)
}

const same = <Value>(value: Value): Value => value

test('any text arrives unchanged, with accents, emoji and quotes', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const text = fc.oneof(
    fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '')),
    fc.string({ unit: 'grapheme', minLength: 40, maxLength: 80 }),
    fc.constantFrom('', '"', '\\', '{}', 'NULL', 'a'.repeat(70_000)),
  )
  const property = fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
    assert.deepEqual(await unnested('text', texts(values, same)), values)
  })
  await fc.assert(property, { seed, numRuns: 100 })
})

test('every number, timestamp and null arrives unchanged', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const sets = fc.record({
    numbers: fc.array(fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))),
    small: fc.array(fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))),
    times: fc.array(
      fc.option(
        fc.date({
          min: new Date('1901-01-01'),
          max: new Date('2300-01-01'),
          noInvalidDate: true,
        }),
      ),
    ),
  })
  const property = fc.asyncProperty(sets, async ({ numbers, small, times }) => {
    assert.deepEqual(await unnested('int', ints(small, same)), small)
    assert.deepEqual(await unnested('bigint', bigints(numbers, same)), numbers)
    assert.deepEqual(await unnested('timestamptz', timestamps(times, same)), times)
  })
  await fc.assert(property, { seed, numRuns: 100 })
})

test('days arrive unchanged, before and after the year 2000', async () => {
  const given = ['1999-12-31', '2000-01-01', '2024-02-29', '2026-11-15', null]
  const rows = await db.rows<{ day: string | null }>(
    'select day::text from unnest($1::date[]) as w (day)',
    [days(given, same)],
  )
  assert.deepEqual(
    rows.map(({ day }) => day),
    given,
  )
})
