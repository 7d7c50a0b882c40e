import assert from 'node:assert/strict'
import { type Database, openDatabase } from '#platform/postgres/db.ts'

/** PostgreSQL plans a statement this often before it keeps a plan that costs no more. */
const CUSTOM_PLANS = 5n

/** Runs statements several times on one connection, and fails if one is planned every time. */
export async function assertPlannedOnce(
  url: string,
  run: (db: Database) => Promise<unknown>,
): Promise<void> {
  const db = openDatabase(url, { pool_size: 1 })
  try {
    // The tables of a test are so small that any plan costs the same.
    await db.run('set enable_seqscan = off')
    for (let time = 0; time < 8; time += 1) await run(db)
    const plans = await db.rows<{ statement: string; custom_plans: bigint }>(
      `select statement, custom_plans from pg_prepared_statements
        where statement not like '%pg_prepared_statements%'`,
    )
    assert.ok(plans.length > 0)
    for (const { statement, custom_plans } of plans) {
      assert.ok(custom_plans <= CUSTOM_PLANS, `is planned every time: ${statement}`)
    }
  } finally {
    await db.close()
  }
}
