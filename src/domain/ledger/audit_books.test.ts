import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { fundTreasury } from '#test/support/money.ts'
import { auditBooks, ledger_proofs } from './audit_books.ts'

let clone: TestDatabase
let db: Database

before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url)
})
after(async () => {
  await db.close()
  await clone.drop()
})

/** As somebody with the power to switch every guard off would do it. */
async function tamper(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: clone.url })
  await client.connect()
  await client.query('set session_replication_role = replica')
  await client.query('alter table purses drop constraint if exists purses_check')
  await client.query(sql)
  await client.end()
}

const proofsBroken = async () =>
  (await auditBooks(db, ledger_proofs)).violations.map(({ proof }) => proof)

test('sound books have no violation, and the figures of all purses sum to zero', async () => {
  await fundTreasury(db, await insertBareAccount(db), 25)
  const { figures, violations } = await auditBooks(db, ledger_proofs)
  assert.deepEqual(violations, [])
  assert.equal(figures['treasury_usd'], '25')
  assert.equal(figures['operator_usd'], '-25')
})

test('a balance that was changed by hand is found', async () => {
  await tamper("update purses set balance_micros = balance_micros + 1 where kind = 'treasury'")
  assert.deepEqual(await proofsBroken(), ['every balance equals its entries'])
  await tamper("update purses set balance_micros = balance_micros - 1 where kind = 'treasury'")
  assert.deepEqual(await proofsBroken(), [])
})

test('a movement that was changed by hand is found', async () => {
  await tamper('update movements set amount_micros = amount_micros + 1')
  const broken = await proofsBroken()
  assert.ok(broken.includes('every balance equals its entries'))
  assert.ok(broken.includes('every treasury entry follows from the one before it'))
  await tamper('update movements set amount_micros = amount_micros - 1')
})

test('a purse below zero without a movement that explains it is found', async () => {
  const account_id = await insertBareAccount(db)
  await tamper(
    `insert into purses (account_id, kind, balance_micros)
     values ('${account_id}', 'treasury', -5)`,
  )
  assert.ok(
    (await proofsBroken()).includes(
      "nothing of a customer's is below zero without a recorded reason",
    ),
  )
})

test('a proof that takes longer than any other statement may is not cut off', async () => {
  const slow = { name: 'slow', sql: 'select 1 as found from pg_sleep(13)' }
  const { violations } = await auditBooks(db, [slow])
  assert.deepEqual(violations, [{ proof: 'slow', found: { found: 1 } }])
})
