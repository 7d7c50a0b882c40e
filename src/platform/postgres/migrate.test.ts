import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import manifest from '#package.json' with { type: 'json' }
import { root } from '#platform/runtime/root.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Database, openDatabase } from './db.ts'
import { migrate, migrateFrom } from './migrate.ts'
import { statementsOf } from './migration_files.ts'

const server = process.env['FLORIN_TEST_DATABASE_URL'] ?? ''
const made: { name: string; db: Database; url: string }[] = []
const folders: string[] = []

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
  made.push({ name, db, url: url.toString() })
  return db
}

const urlOf = (db: Database): string => made.find((each) => each.db === db)?.url ?? ''

after(async () => {
  for (const { name, db } of made) {
    await db.close()
    await administer(`drop database ${name} with (force)`)
  }
  for (const folder of folders) await rm(folder, { recursive: true })
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
  await assert.rejects(migrate(db), /0001_platform\.sql was changed after it was applied here/)
  await db.run('delete from migrations where name <> $1', [first])
  await assert.rejects(migrate(db), /was changed/)
  const rows = await db.rows('select name from migrations')
  assert.equal(rows.length, 1)
})

test('a database that applied an earlier text of a migration is accepted', async () => {
  const db = await emptyDatabase()
  const earlier = 'alter table clock add column note text;'
  await migrateFrom(await laterVersion('9001_later.sql', earlier), db)
  const checksum = createHash('sha256').update(earlier).digest('hex')
  const rewritten = `-- A note.\n-- formerly: ${checksum}\n${earlier}`
  assert.deepEqual(await migrateFrom(await laterVersion('9001_later.sql', rewritten), db), [])
  const unnamed = await laterVersion('9001_later.sql', `-- A note.\n${earlier}`)
  await assert.rejects(migrateFrom(unnamed, db), /9001_later\.sql was changed after it was applied/)
})

test('statements are sent one by one, and the body of a function belongs to its statement', () => {
  const table = '-- A table.\ncreate table a (b text);'
  const body = 'create function f() returns trigger as $$\nbegin\n  update a set b = 1;\n'
  const routine = `${body}  -- Why.\n  select 1;\nend\n$$;`
  const atomic = 'create function g() returns int\nbegin atomic\n  select 1;\nend;'
  const update = '-- Rows so far.\nwith c as (\n  select 1)\nupdate a set b = null;'
  const statements = [table, routine, atomic, update]
  assert.deepEqual(statementsOf(statements.join('\n\n')), statements)
})

test('a failed migration is rolled back and named in the error, and its lock is released', async () => {
  const db = await emptyDatabase()
  await db.run('create table clock (in_the_way boolean)')
  await assert.rejects(migrate(db), /the migration 0001_platform\.sql failed/)
  const tables = await db.rows<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'public' order by 1`,
  )
  assert.deepEqual(
    tables.map((row) => row.tablename),
    ['clock', 'migrations'],
  )
  await db.run('drop table clock')
  assert.deepEqual(await migrate(db), await files())
})

test('a migration that deadlocks with a call is applied again', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  // A sequence is not rolled back, so it counts attempts.
  await db.run('create sequence attempts')
  const two_tables = [
    `select nextval('attempts');`,
    'alter table clock add column a text;',
    'alter table task_runs add column b text;\n',
  ]
  const later = await laterVersion('9001_later.sql', two_tables.join('\n'))
  const call = new pg.Client({ connectionString: urlOf(db) })
  await call.connect()
  // The migration notices the deadlock first.
  await call.query(`set deadlock_timeout = '1min'; begin; select from task_runs`)
  const migrating = migrateFrom(later, db)
  const isWaiting = async () => {
    const { rows } = await call.query(
      `select from pg_locks join pg_database d on d.oid = database
        where not granted and datname = current_database()`,
    )
    return rows.length > 0
  }
  assert(await eventually(isWaiting, { within_ms: 20_000 }))
  await call.query('select from clock; commit')
  assert.deepEqual(await migrating, ['9001_later.sql'])
  const [attempts] = await db.rows<{ made: number }>(
    'select last_value::integer as made from attempts',
  )
  assert.equal(attempts?.made, 2)
  await call.end()
})

/** The migrations of a later version: ours, and one more. */
async function laterVersion(name: string, sql: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'florin_migrations_'))
  folders.push(folder)
  await cp(`${root}/migrations`, folder, { recursive: true })
  await writeFile(join(folder, name), sql)
  return folder
}

const INCOMPATIBLE = `-- Drops a column that older nodes write.
--
-- incompatible: older nodes write clock.offset_ms
alter table clock drop column offset_ms;
`

/** Connects as a node of this version does, and stays connected. */
async function connectNode(db: Database): Promise<Database> {
  const node = openDatabase(urlOf(db), { pool_size: 1 })
  await node.rows('select 1')
  return node
}

test('an incompatible migration is refused while an older node is connected', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  const node = await connectNode(db)
  const later = await laterVersion('9001_later.sql', INCOMPATIBLE)
  const refusal = await migrateFrom(later, db).catch((cause: Error) => cause)
  assert(refusal instanceof Error)
  assert.match(
    refusal.message,
    /^The migration 9001_later\.sql is incompatible with older versions/,
  )
  const name = `${manifest.version} on ${hostname().slice(0, 20)} (process ${process.pid})`
  assert.ok(refusal.message.includes(name), refusal.message)
  assert.match(refusal.message, /Stop them, then start this version or run `florin migrate` again/)
  assert.equal((await db.rows('select offset_ms from clock')).length, 1, 'nothing was changed')

  await node.close()
  // The server ends the connection a little later.
  const isApplied = async () => (await migrateFrom(later, db).catch(() => [])).length === 1
  assert(await eventually(isApplied, { within_ms: 20_000 }))
})

test('a node that knows the incompatible migration does not block it', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  const node = new pg.Client({
    connectionString: urlOf(db),
    application_name: 'florin/9.0.0 schema=9001 host:1',
  })
  await node.connect()
  const later = await laterVersion('9001_later.sql', INCOMPATIBLE)
  assert.deepEqual(await migrateFrom(later, db), ['9001_later.sql'])
  await node.end()
})

const ALLOWING = INCOMPATIBLE.replace('\nalter', '\n-- allows: >= 9.1.0\nalter')

test('an incompatible migration names the oldest version it allows, and refuses older ones', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  const later = await laterVersion('9001_later.sql', ALLOWING)
  const connectVersion = async (version: string) => {
    const application_name = `florin/${version} schema=8000 host:1`
    const node = new pg.Client({ connectionString: urlOf(db), application_name })
    await node.connect()
    return node
  }
  const allowed = [await connectVersion('9.1.0'), await connectVersion('10.0.0')]
  const refused = await connectVersion('9.0.12')
  await assert.rejects(migrateFrom(later, db), {
    message:
      'The migration 9001_later.sql is incompatible with versions of Florin before 9.1.0, and ' +
      'these are connected to the database: 9.0.12 on host (process 1). Stop them, then start ' +
      'this version or run `florin migrate` again. Nothing was changed.',
  })
  await refused.end()
  const isApplied = async () => (await migrateFrom(later, db).catch(() => [])).length === 1
  assert(await eventually(isApplied, { within_ms: 20_000 }))
  for (const node of allowed) await node.end()
})

test('only versions that an incompatible migration allows start after it', async () => {
  const db = await emptyDatabase()
  const allowing_this = ALLOWING.replace('9.1.0', manifest.version)
  await migrateFrom(await laterVersion('9001_later.sql', allowing_this), db)
  assert.deepEqual(await migrate(db), [])
  await db.run(`update migrations set allows = '9.1.0' where allows is not null`)
  await assert.rejects(migrate(db), /A newer version of Florin changed the database/)
})

test('a compatible migration runs while older nodes are connected', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  const node = await connectNode(db)
  const later = await laterVersion('9001_later.sql', 'alter table clock add column note text;')
  assert.deepEqual(await migrateFrom(later, db), ['9001_later.sql'])
  assert.deepEqual(await migrate(node), [], 'an older version can still start')
  await node.close()
})

test('an older version does not start after an incompatible migration', async () => {
  const db = await emptyDatabase()
  await migrateFrom(await laterVersion('9001_later.sql', INCOMPATIBLE), db)
  await assert.rejects(
    migrate(db),
    /A newer version of Florin changed the database with 9001_later/,
  )
})

test('a database of an unreleased version is refused with a sentence that says what to do', async () => {
  const db = await emptyDatabase()
  await migrate(db)
  await db.run(`insert into migrations (name, checksum) values ('0002_accounts.sql', '')`)
  const message =
    `The database has the migration 0002_accounts.sql, which is not part of Florin ` +
    `${manifest.version}. Use a new database (without FLORIN_DATABASE_URL: another ` +
    'FLORIN_DATA_DIR), or the version that created this one.'
  await assert.rejects(migrate(db), { message })
})
