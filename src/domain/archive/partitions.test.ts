import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactionConditions } from '#domain/transactions/transaction_conditions.ts'
import { readTransactionPage } from '#domain/transactions/transaction_store.ts'
import { type Database, openDatabase, type Tx } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { writeAccounts, writePurchases } from '#test/support/old_purchases.ts'

import { addPartitions, PARTITIONED_TABLES } from './partitions.ts'

type Books = { url: string; db: Database; service: Database }

async function withDatabase(work: (books: Books) => Promise<void>): Promise<void> {
  const clone = await cloneDatabase()
  const db = openDatabase(clone.url, { pool_size: 2 })
  const role = { name: SERVICE_ROLE, can_copy: true }
  const service = openDatabase(clone.url, { pool_size: 2, role })
  try {
    await work({ url: clone.url, db, service })
  } finally {
    await Promise.all([db.close(), service.close()])
    await clone.drop()
  }
}

type PlacedRows = { partition: string; rows: number }

const placesOf = (db: Database, table: string): Promise<PlacedRows[]> =>
  db.rows<PlacedRows>(
    `select tableoid::regclass::text as partition, count(*)::integer as rows
       from ${table} group by 1 order by min(id)`,
  )

const partitionsOf = async (db: Database, table: string): Promise<string[]> =>
  (
    await db.rows<{ name: string }>(
      `select partition::text as name from partitions_of($1) order by lower_id nulls first`,
      [table],
    )
  ).map(({ name }) => name)

const addAll = async (db: Database, at: string): Promise<void> => {
  for (const table of PARTITIONED_TABLES) await addPartitions(db, table, new Date(at))
}

test('a new database keeps this and the next month in one partition; later months get their own', () =>
  withDatabase(async ({ url, db, service }) => {
    const [last] = await db.rows<{ at: Date }>(
      `select date_trunc('month', applied_at, 'UTC') + interval '2 months' as at
         from migrations where name = '0022_archive.sql'`,
    )
    assert(last !== undefined)
    for (const table of PARTITIONED_TABLES) {
      const bounds = await db.rows(
        `select partition::text, id_month(lower_id) at time zone 'UTC' as from,
                id_month(upper_id) at time zone 'UTC' as until
           from partitions_of($1) order by lower_id nulls first`,
        [table],
      )
      assert.deepEqual(bounds, [
        { partition: `${table}_first`, from: null, until: last.at },
        { partition: `${table}_later`, from: last.at, until: null },
      ])
    }
    await writeAccounts(url, 2, '2020-01-01')
    await writePurchases(url, { accounts: 2, from: '2020-01-02', count: 20, every: '10 days' })
    for (const table of PARTITIONED_TABLES) {
      assert.deepEqual(
        (await placesOf(db, table)).map(({ partition }) => partition),
        [`${table}_first`],
      )
    }
    await addAll(service, last.at.toISOString())
    const month = last.at.toISOString().slice(0, 7).replace('-', '_')
    for (const table of PARTITIONED_TABLES) {
      const [first, second, third, later, ...more] = await partitionsOf(db, table)
      assert.deepEqual([first, second], [`${table}_first`, `${table}_${month}`])
      assert.match(third ?? '', /_20\d\d_\d\d$/)
      assert.deepEqual([later, ...more], [`${table}_later`])
    }
  }))

test('an empty month that nobody added takes writes, and they stay in place when it is', () =>
  withDatabase(async ({ url, db, service }) => {
    await writeAccounts(url, 1, '2026-11-01')
    await writePurchases(url, { accounts: 1, from: '2031-03-05', count: 3, every: '20 days' })
    assert.deepEqual(await placesOf(db, 'transactions'), [
      { partition: 'transactions_later', rows: 6 },
    ])
    await addAll(service, '2031-03-20')
    await addAll(service, '2031-03-20')
    const [wide] = await placesOf(db, 'transactions')
    assert.equal(wide?.rows, 6)
    assert.match(wide?.partition ?? '', /^transactions_20\d\d_\d\d$/)
    await writePurchases(url, { accounts: 1, from: '2031-05-05', count: 1, every: '1 day' })
    assert.deepEqual(await placesOf(db, 'transactions'), [
      wide,
      { partition: 'transactions_later', rows: 2 },
    ])
  }))

test('years without a write share one partition', () =>
  withDatabase(async ({ db, service }) => {
    await addAll(service, '2036-06-01')
    assert.equal((await partitionsOf(db, 'events')).length, 5)
    assert.deepEqual((await partitionsOf(db, 'events')).slice(2), [
      'events_2036_06',
      'events_2036_07',
      'events_later',
    ])
  }))

test('a table that is in use is left for the next run', () =>
  withDatabase(async ({ db, service }) => {
    await db.transaction(async (tx) => {
      await tx.rows('select from movements limit 1')
      assert.equal(await addPartitions(service, 'movements', new Date('2036-06-01')), null)
    })
    assert.deepEqual(await partitionsOf(db, 'movements'), ['movements_first', 'movements_later'])
    assert.equal(await addPartitions(service, 'movements', new Date('2036-06-01')), 3)
  }))

test('an append-only table refuses changes in every partition, also the new ones', () =>
  withDatabase(async ({ db, service }) => {
    await addAll(service, '2036-06-01')
    const partitions = await partitionsOf(db, 'movements')
    for (const name of ['movements', ...partitions]) {
      await assert.rejects(db.run(`delete from ${name}`), /append-only/)
      await assert.rejects(db.run(`truncate ${name}`), /append-only/)
    }
    await assert.rejects(db.run('update events_2036_07 set type = type'), /append-only/)
    await assert.rejects(service.run('delete from transactions'), /permission denied/)
    await assert.rejects(service.rows('select from events_2036_07'), /permission denied/)
  }))

test('a dispute needs its transaction', () =>
  withDatabase(async ({ url, db }) => {
    await writeAccounts(url, 1, '2026-11-01')
    await assert.rejects(
      db.run(
        `insert into disputes (account_id, id, transaction_id, card_id, amount_micros, reason,
                               explanation, evidence_due_at, created_at, updated_at)
         values ('acct_00000', 'dsp_1', 'txn_1', 'card_00000', 1, '', '', now(), now(), now())`,
      ),
      /the transaction txn_1 does not exist/,
    )
  }))

const account_id = 'acct_00000'

test('pages continue over the borders of partitions, in both directions', () =>
  withDatabase(async ({ url, db, service }) => {
    await writeAccounts(url, 2, '2026-11-01')
    await addAll(service, '2027-03-01')
    await writePurchases(url, { accounts: 2, from: '2026-11-02', count: 40, every: '4 days' })
    await addAll(service, '2027-05-01')
    assert((await placesOf(db, 'transactions')).length >= 3)
    const all = await db.rows<{ id: string }>(
      'select id from transactions where account_id = $1 order by id',
      [account_id],
    )
    for (const order of ['asc', 'desc'] as const) {
      const ids: string[] = []
      for (let cursor: string | undefined; ; ) {
        const input = { limit: 7, order, ...(cursor === undefined ? {} : { cursor }) }
        const page = await readTransactionPage(db, 'list_transactions', input, { account_id })
        ids.push(...page.data.map(({ id }) => id))
        if (page.next_cursor === null) break
        cursor = page.next_cursor
      }
      const expected = all.map(({ id }) => id)
      assert.deepEqual(order === 'asc' ? ids : ids.toReversed(), expected)
    }
  }))

/** A database that explains the statements it gets. */
function explaining(db: Database, plan: string[]): Tx {
  return {
    ...db,
    rows: async (sql, params) => {
      const lines = await db.rows<{ 'QUERY PLAN': string }>(`explain ${sql}`, params)
      plan.push(...lines.map((row) => row['QUERY PLAN']))
      return []
    },
  }
}

test('a page is a range of an index per partition, read until it is full, without a sort', () =>
  withDatabase(async ({ url, db, service }) => {
    await writeAccounts(url, 20, '2026-11-01')
    await addAll(service, '2027-03-01')
    await writePurchases(url, { accounts: 20, from: '2026-11-02', count: 4_000, every: '1 hour' })
    await db.run('analyze transactions')
    const explain = async (input: object): Promise<string> => {
      const plan: string[] = []
      const listed = { account_id, filters: transactionConditions(input) }
      await readTransactionPage(explaining(db, plan), 'list_transactions', input, listed)
      return plan.join('\n')
    }
    const page = await explain({})
    assert.match(page, /Append/)
    assert.doesNotMatch(page, /Seq Scan|Sort/)
    const march = await explain({ created_gte: '2027-03-01T00:00:00Z' })
    assert.match(march, /transactions_2027_03/)
    assert.doesNotMatch(march, /transactions_first/)
    const declined = await explain({ status: 'declined' })
    assert.match(declined, /using transactions_first_account_id_id_idx on/)
    assert.doesNotMatch(declined, /Seq Scan on transactions_(first|2027)/)
  }))
