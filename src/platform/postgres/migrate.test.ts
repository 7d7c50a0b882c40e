import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import pg from 'pg'
import { root } from '#platform/runtime/root.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { type Database, openDatabase } from './db.ts'
import { migrate } from './migrate.ts'

const server = process.env['FLORIN_TEST_DATABASE_URL'] ?? ''
const made: { name: string; db: Database }[] = []

async function administer(sql: string): Promise<void> {
  const url = new URL(server)
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.toString() })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

async function emptyDatabase(): Promise<Database> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const db = openDatabase(url.toString(), { pool_size: 4 })
  made.push({ name, db })
  return db
}

after(async () => {
  for (const { name, db } of made) {
    await db.close()
    await administer(`drop database ${name} with (force)`)
  }
})

const files = async () =>
  (await readdir(`${root}/migrations`)).filter((name) => name.endsWith('.sql')).sort()

test('an empty database gets every migration in order, and the next run applies none', async () => {
  const db = await emptyDatabase()
  assert.deepEqual(await migrate(db), await files())
  assert.deepEqual(await migrate(db), [])
  const rows = await db.rows<{ name: string }>('select name from migrations order by name')
  assert.deepEqual(
    rows.map((row) => row.name),
    await files(),
  )
})

test('if four nodes migrate at the same time, one applies everything and the others nothing', async () => {
  const db = await emptyDatabase()
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(db)))
  const counts = applied.map((names) => names.length).sort((a, b) => a - b)
  assert.deepEqual(counts, [0, 0, 0, (await files()).length])
})

test('an applied migration whose file has changed stops the start, and nothing changes', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  const [first] = await files()
  await db.run('update migrations set checksum = $2 where name = $1', [first, 'another'])
  await assert.rejects(migrate(db), /0001_accounts\.sql was changed after it was applied here/)
  await db.run('delete from migrations where name <> $1', [first])
  await assert.rejects(migrate(db), /was changed/)
  const rows = await db.rows('select name from migrations')
  assert.equal(rows.length, 1)
})

test('a failed migration is rolled back and named in the error, and its lock is released', async () => {
  const db = await emptyDatabase()
  await db.run('create table accounts (in_the_way boolean)')
  await assert.rejects(migrate(db), /the migration 0001_accounts\.sql failed/)
  const tables = await db.rows<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'public' order by 1`,
  )
  assert.deepEqual(
    tables.map((row) => row.tablename),
    ['accounts', 'migrations'],
  )
  await db.run('drop table accounts')
  assert.deepEqual(await migrate(db), await files())
})

/** A database as the releases before a migration left it. */
async function databaseBefore(migration: string): Promise<Database> {
  const db = await emptyDatabase()
  await db.run(
    `create table migrations (name text primary key, checksum text not null,
                              applied_at timestamptz not null default now())`,
  )
  for (const name of (await files()).filter((file) => file < migration)) {
    const sql = await readFile(`${root}/migrations/${name}`, 'utf8')
    await db.connection((client) => client.query(sql))
    const checksum = createHash('sha256').update(sql).digest('hex')
    await db.run('insert into migrations (name, checksum) values ($1, $2)', [name, checksum])
  }
  return db
}

test('migration 0018 keeps the balance, holds and usage of every card', async () => {
  const db = await databaseBefore('0018')
  const account_id = await insertBareAccount(db)
  await db.connection((client) =>
    client.query(`
      set session_replication_role = replica;
      insert into purses (account_id, kind, owner_id, balance_micros)
      select '${account_id}', * from (values ('treasury', '', 10), ('card', 'used', 500),
        ('hold', 'used', 70), ('hold', 'emptied', 5), ('card', 'unused', 0)) as v;
      insert into card_spending (account_id, card_id, day, spent_micros)
      select '${account_id}', 'used', * from (values (date '2031-04-30', 100),
        (date '2031-05-01', 20), (date '2031-05-03', 7)) as v;
      set session_replication_role = origin`),
  )
  const before = await db.rows('select kind, owner_id, balance_micros from purses')
  assert.ok((await migrate(db)).includes('0018_card_purses.sql'))
  const after = await db.rows<{ balance_micros: bigint }>(
    'select kind, owner_id, balance_micros from purse_balances',
  )
  const sorted = (rows: object[]) =>
    rows.map((row) => Object.values(row).join(' ')).sort((a, b) => (a < b ? -1 : 1))
  const with_money = after.filter(({ balance_micros }) => balance_micros > 0n)
  assert.deepEqual(
    sorted(with_money),
    sorted(before).filter((row) => !row.endsWith(' 0')),
  )
  const spent = await db.rows(
    `select owner_id, spent_day::text, day_spent_micros, month_spent_micros from purses
      where spent_day is not null`,
  )
  assert.deepEqual(spent, [
    { owner_id: 'used', spent_day: '2031-05-03', day_spent_micros: 7n, month_spent_micros: 27n },
  ])
})
