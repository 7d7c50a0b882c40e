import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { auditBooks } from '#domain/ledger/audit_books.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { event_proofs } from './event_proofs.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 2 })
after(async () => {
  await db.close()
  await clone.drop()
})

const brokenProofs = async () =>
  (await auditBooks(db, event_proofs)).violations.map(({ proof, found }) => [
    proof,
    found['account_id'],
  ])

const SEQUENCE = "an account's events are numbered without a gap, and no number is used twice"

async function insertEvents(account_id: string, sequences: readonly number[]): Promise<void> {
  await db.run(
    `insert into events (account_id, id, sequence, type, severity, message, resource_type,
                         resource_id, body, created_at)
     select $1, 'evt_' || position, sequence, 'card.created', 'info', '', 'card', '', '{}', now()
       from unnest($2::bigint[]) with ordinality as n (sequence, position)`,
    [account_id, sequences],
  )
}

test('finds an event without an account', async () => {
  assert.deepEqual(await brokenProofs(), [])
  await insertEvents('acct_missing', [1])
  assert.deepEqual(await brokenProofs(), [['every event belongs to an account', 'acct_missing']])
  await db.run(`delete from events where account_id = 'acct_missing'`)
})

test('finds a sequence with a gap, and one with a duplicate', async () => {
  await insertEvents(await insertBareAccount(db), [1, 2, 3])
  const with_gap = await insertBareAccount(db)
  await insertEvents(with_gap, [1, 3])
  assert.deepEqual(await brokenProofs(), [[SEQUENCE, with_gap]])
  await db.run('delete from events where account_id = $1', [with_gap])
  const with_duplicate = await insertBareAccount(db)
  await insertEvents(with_duplicate, [1, 2, 2])
  assert.deepEqual(await brokenProofs(), [[SEQUENCE, with_duplicate]])
})
