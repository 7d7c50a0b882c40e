// Runs alone, because it loads the machine and bounds response times.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { startFlorin, stopAllProcesses, temporaryFolder } from '#test/support/florin_process.ts'

const clone = await cloneDatabase()
const folder = await temporaryFolder()
const db = openDatabase(clone.url, { pool_size: 1 })
after(async () => {
  await stopAllProcesses()
  await db.close()
  await clone.drop()
  await folder.remove()
})

const MEASURED_S = 20
/** The start itself commits, and tasks rest only after a time without a commit. */
const SETTLED_S = 15
/** Sessions report what they have done with up to a second's delay, so the two looks are fuzzy. */
const TRANSACTIONS_PER_S_MAX = 12

async function transactions(): Promise<number> {
  const [row] = await db.rows<{ count: bigint }>(
    `select xact_commit + xact_rollback as count
       from pg_stat_database where datname = current_database()`,
  )
  return Number(row?.count ?? 0n)
}

test('an idle sandbox sends few statements to its database', async (t) => {
  await startFlorin({ FLORIN_DATA_DIR: folder.path, FLORIN_DATABASE_URL: clone.url })
  await wait(SETTLED_S * 1_000)
  const before = await transactions()
  await wait(MEASURED_S * 1_000)
  const per_second = ((await transactions()) - before) / MEASURED_S
  t.diagnostic(`${per_second} transactions a second`)
  assert(per_second < TRANSACTIONS_PER_S_MAX, `${per_second} transactions a second`)
})
