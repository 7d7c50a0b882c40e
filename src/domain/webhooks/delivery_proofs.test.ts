import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { auditBooks } from '#domain/ledger/audit_books.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { delivery_proofs } from './delivery_proofs.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 2 })
after(async () => {
  await db.close()
  await clone.drop()
})

test('finds a due delivery without a webhook', async () => {
  const account_id = await insertBareAccount(db)
  await db.run(
    `insert into webhooks (account_id, id, url, events, secret_sealed, secret_hint,
                           after_sequence, created_at, updated_at)
     values ($1, 'whk_1', 'https://example.com', '{*}', '', '', 0, now(), now())`,
    [account_id],
  )
  await db.run(
    `insert into deliveries (account_id, webhook_id, event_id, next_attempt_at)
     values ($1, 'whk_1', 'evt_1', now())`,
    [account_id],
  )
  assert.deepEqual((await auditBooks(db, delivery_proofs)).violations, [])
  await db.run(`delete from webhooks where id = 'whk_1'`)
  const { violations } = await auditBooks(db, delivery_proofs)
  assert.deepEqual(violations, [
    {
      proof: 'every due delivery belongs to a webhook',
      found: { account_id, webhook_id: 'whk_1', event_id: 'evt_1' },
    },
  ])
})
