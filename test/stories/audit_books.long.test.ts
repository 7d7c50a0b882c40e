import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { proveBooksTask } from '#main/audit.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { readSettings } from '#settings/settings.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { florin } from '#test/support/florin_process.ts'

const ACCOUNTS = 1_000
const MOVEMENTS_EACH = 5_000

const clone = await cloneDatabase()
const db = openDatabase(clone.url)
after(async () => {
  await db.close()
  await clone.drop()
})

/** Small credits of many accounts, as a set: through the posting path they would take an hour. */
async function writeMovements(): Promise<void> {
  const client = new pg.Client({ connectionString: clone.url })
  await client.connect()
  await client.query('set session_replication_role = replica')
  await client.query(
    `insert into movements (account_id, id, movement, from_kind, to_kind, to_balance_micros,
                            amount_micros, reference_type, reference_id, description, created_at)
     select 'acct_' || a, lpad(n::text, 8, '0'), 'adjusted_up', 'operator', 'treasury', n, 1,
            'adjustment', 'adj_' || n, 'A small credit.', now()
       from generate_series(1, ${ACCOUNTS}) a, generate_series(1, ${MOVEMENTS_EACH}) n`,
  )
  await client.query(
    `insert into purses (account_id, kind, balance_micros)
     select 'acct_' || a, 'treasury', ${MOVEMENTS_EACH} from generate_series(1, ${ACCOUNTS}) a`,
  )
  await client.end()
}

test('five million movements are proven by the command and by the hourly task', async () => {
  await writeMovements()
  const env = { FLORIN_DATABASE_URL: clone.url }
  const { code, output } = await florin(['audit', 'books'], env)
  assert.match(output, /movements +5000000/)
  assert.match(output, /The books are sound\./)
  assert.equal(code, 0)
  const settings = readSettings(env)
  const parts = { db, log: silentLog, settings, clock: systemClock(), random: systemRandom }
  await proveBooksTask(parts).run()
})
