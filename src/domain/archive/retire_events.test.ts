import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveBooks } from '#main/audit.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { addMonths, MONTHS_END, withMonthlyBooks } from '#test/support/monthly_books.ts'
import { asOwner } from '#test/support/old_purchases.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { detachMonths, findLeaving } from './leaving_store.ts'
import { retireEvents } from './partitions.ts'

const BEFORE = new Date('2027-03-15T00:00:00Z')

test('whole months of old events are deleted, and the books stay sound', () =>
  withMonthlyBooks(async ({ url, db }) => {
    const role = { name: SERVICE_ROLE, can_copy: true }
    const service = openDatabase(url, { pool_size: 1, role })
    try {
      assert.equal(await retireEvents(service, BEFORE), 3)
      assert.equal(await retireEvents(service, BEFORE), 0)
    } finally {
      await service.close()
    }
    const [left] = await db.rows<{ oldest: Date; events: number }>(
      'select min(created_at) as oldest, count(*)::integer as events from events',
    )
    assert((left?.oldest ?? BEFORE) >= new Date('2027-03-01T00:00:00Z'))
    assert((left?.events ?? 0) > 0)
    assert.deepEqual((await proveBooks(db, MONTHS_END)).violations, [])
  }))

test('a number that is missing after the deleted ones is found', () =>
  withMonthlyBooks(async ({ url, db }) => {
    await retireEvents(db, BEFORE)
    await asOwner(url, 'delete from events where id = (select min(id) from events)')
    const { violations } = await proveBooks(db, MONTHS_END)
    assert(violations.some(({ proof }) => proof.includes('numbered without a gap')))
  }))

test('no event is deleted while one of them waits to be sent', () =>
  withMonthlyBooks(async ({ db }) => {
    await db.run(
      `insert into outbox (account_id, event_id) select account_id, id from events
        order by id limit 1`,
    )
    assert.equal(await retireEvents(db, BEFORE), 0)
    await db.run('delete from outbox')
    assert.equal(await retireEvents(db, BEFORE), 3)
  }))

test('a month in use is left for the next run', () =>
  withMonthlyBooks(async ({ db }) => {
    await db.transaction(async (tx) => {
      await tx.rows('select from events limit 1')
      assert.equal(await retireEvents(db, BEFORE), null)
    })
    assert.equal(await retireEvents(db, BEFORE), 3)
  }))

/** Holds are never archived, but these books have one. */
const HOLDS = "every card's hold purse equals what its authorizations hold"

test('books of every kind stay sound when their events are deleted and their money archived', async () => {
  const clone = await cloneDatabase(await soundBooks())
  const db = openDatabase(clone.url, { pool_size: 2 })
  try {
    const later = new Date(Date.now() + 150 * 86_400_000)
    await addMonths(db, later)
    await asOwner(clone.url, 'delete from outbox; delete from deliveries')
    assert.equal(await retireEvents(db, later), 4)
    assert.deepEqual((await proveBooks(db)).violations, [])
    const leaving = await findLeaving(db, later)
    assert(leaving !== null)
    await db.transaction((tx) => detachMonths(tx, leaving))
    const { violations } = await proveBooks(db)
    assert.deepEqual([...new Set(violations.map(({ proof }) => proof))], [HOLDS])
  } finally {
    await db.close()
    await clone.drop()
  }
})
