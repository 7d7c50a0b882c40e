import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'

const database = await cloneDatabase()
const db = openDatabase(database.url)
after(async () => {
  await db.close()
  await database.drop()
})

/** The columns that a capture, reversal, refund or expiry changes. */
const CHANGED = `(status|amount_minor|amount_micros|open_micros|held_micros|captured_micros|
  refunded_micros|settled_at|counted_\\w+|version|updated_at)`.replaceAll(/\s/g, '')

test('no index of transactions has a column that later messages change', async () => {
  const indexes = await db.rows<{ definition: string }>(
    `select pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid = any(select inhrelid from pg_inherits
                            where inhparent = 'transactions'::regclass)`,
  )
  assert.ok(indexes.length > 6)
  const changing = indexes.filter(({ definition }) =>
    new RegExp(`\\b${CHANGED}\\b`).test(definition),
  )
  // Otherwise PostgreSQL writes entries into all of them with every change of a row.
  assert.deepEqual(changing, [])
})
