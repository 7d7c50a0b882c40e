import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { KEY_OF_NUMBER, keyOfText } from './advisory_key.ts'
import { splitHosts } from './database_url.ts'
import { type Database, openAccountPool, openDatabase } from './db.ts'
import { withLease } from './lease.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { MIGRATIONS_DIR, readMigrations } from './migration_files.ts'
import { notify } from './notify.ts'
import { ACCOUNT_ROLE, SERVICE_ROLE } from './roles.ts'
import { isSchemaName, schemaOf, withSchema } from './schema.ts'

/** The longest name, and a word of SQL. */
const NAMES = [`cell_${'x'.repeat(58)}`, 'order'] as const
const clone = await cloneDatabase()
const urls = [clone.url, ...NAMES.map((name) => withSchema(clone.url, name))]
const role = { name: SERVICE_ROLE, can_copy: true }
const owners = urls.map((url) => openDatabase(url, { pool_size: 2 }))
const services = urls.map((url) => openDatabase(url, { pool_size: 2, role }))
const [first_url = '', second_url = ''] = urls.slice(1)
const [owner] = owners as [Database]
for (const each of owners) await migrate(each)
after(async () => {
  for (const db of [...owners, ...services]) await db.close()
  await clone.drop()
})

/** The reply of the database to each of its schemas, the default one first. */
const ofEach = async <Value>(ask: (db: Database, at: number) => Promise<Value>) => {
  const values: Value[] = []
  for (const [at, db] of services.entries()) values.push(await ask(db, at))
  return values
}

test('every schema of a database has tables of its own, and sees no others', async () => {
  assert.deepEqual(await ofEach((db) => pendingMigrations(db)), [[], [], []])
  await ofEach((db, at) => db.run('update clock set offset_ms = $1', [at]))
  const offsets = await ofEach((db) => db.rows('select offset_ms from clock'))
  assert.deepEqual(
    offsets,
    [0n, 1n, 2n].map((offset_ms) => [{ offset_ms }]),
  )
  const empty = openDatabase(withSchema(clone.url, 'not_there'), { pool_size: 1 })
  const all = (await readMigrations(MIGRATIONS_DIR)).map(({ name }) => name)
  assert.deepEqual(await pendingMigrations(empty), all, 'the tables of public are not its own')
  await empty.close()
})

test('both roles may use a schema of a cell, with the rights they have in public', async () => {
  for (const url of urls) {
    const accounts = openAccountPool(url, { pool_size: 1 })
    const { rows } = accounts.of('acct_1')
    assert.deepEqual(await rows('select current_user::text as name'), [{ name: ACCOUNT_ROLE }])
    assert.deepEqual(await rows('select id from accounts'), [])
    await assert.rejects(rows('select * from task_runs'), /permission denied/)
    await accounts.close()
  }
})

test('a notification reaches the listeners of its schema only', async () => {
  const received: string[][] = [[], [], []]
  const stops = await ofEach((db, at) =>
    db.listen('florin_schemas', (payload) => received[at]?.push(payload)),
  )
  await ofEach((db, at) => notify(db, 'florin_schemas', `only ${at}`))
  await ofEach((db) => notify(db, 'florin_schemas', 'last'))
  const isOver = async () => received.every((payloads) => payloads.includes('last'))
  assert.ok(await eventually(isOver, { within_ms: 10_000 }))
  assert.deepEqual(
    received,
    [0, 1, 2].map((at) => [`only ${at}`, 'last']),
  )
  for (const stop of stops) await stop()
})

test('every schema has leases and advisory locks of its own', async () => {
  const [outer, inner, innermost] = services as [Database, Database, Database]
  let holders = 0
  const runs = (db: Database, then = async () => {}) =>
    withLease(db, 'jar', async () => {
      holders += 1
      await then()
    })
  const isFree = await runs(outer, async () => {
    await runs(inner, async () => void (await runs(innermost)))
    assert.equal(await withLease(inner, 'jar', async () => undefined), true)
    assert.equal(await withLease(outer, 'jar', async () => undefined), false)
  })
  assert.deepEqual([isFree, holders], [true, 3])

  const keys = `select ${keyOfText()} as of_text, ${keyOfText(1)} as of_account`
  const texts = await ofEach((db) => db.rows<{ of_text: bigint; of_account: bigint }>(keys, ['a']))
  const all = texts.flat().flatMap(({ of_text, of_account }) => [of_text, of_account])
  assert.equal(new Set(all).size, 6)
  const numbers = await ofEach((db) =>
    db.rows<{ key: bigint }>(`select ${KEY_OF_NUMBER} as key`, [7]),
  )
  assert.equal(new Set(numbers.flat().map(({ key }) => key)).size, 3)
})

test('without a schema, locks and channels have the keys and names they always had', async () => {
  const [row] = await owner.rows<{ is_same: boolean }>(
    `select ${keyOfText(1)} = hashtextextended($1, 1) as is_same`,
    ['acct_1'],
  )
  assert.equal(row?.is_same, true)
  const [numbered] = await owner.rows(`select ${KEY_OF_NUMBER} as key`, [7_310_265])
  assert.deepEqual(numbered, { key: 7_310_265n })
})

test('options in a URL are added to those of the pool, which still acts as its role', async () => {
  const url = `${clone.url}?options=${encodeURIComponent('-c work_mem=7MB -c role=postgres')}`
  const db = openDatabase(url, { pool_size: 1, role })
  const [row] = await db.rows(
    `select current_user::text as name, current_setting('work_mem') as work_mem,
            current_setting('tcp_keepalives_idle') as idle, current_schema() as schema`,
  )
  assert.deepEqual(
    { ...row, idle: '' },
    { name: SERVICE_ROLE, work_mem: '7MB', idle: '', schema: 'public' },
  )
  await db.close()
})

test('the schema is a part of the address, after any host and with other parameters', () => {
  assert.equal(schemaOf(clone.url), null)
  assert.equal(schemaOf(withSchema('postgres://h/db', 'public')), null)
  const twice = 'postgres://h/db?options=-csearch_path=a+--search_path=cell_1'
  assert.equal(schemaOf(twice), 'cell_1')
  assert.deepEqual([schemaOf(first_url), schemaOf(second_url)], NAMES)
  const several = withSchema('postgres://u@h1:1,h2:2/db?sslmode=require', 'cell_1')
  assert.equal(schemaOf(several), 'cell_1')
  assert.deepEqual(splitHosts(several), [
    'postgres://u@h1:1/db?sslmode=require&',
    'postgres://u@h2:2/db?sslmode=require&',
  ])
  for (const name of ['', 'Cell', '1st', 'a-b', 'a b', 'a"b', 'a,b', 'ü', 'pg_cell', '$user']) {
    assert.equal(isSchemaName(name), false, name)
  }
  assert.equal(isSchemaName('information_schema'), false)
  assert.equal(isSchemaName('x'.repeat(64)), false)
})

test('a login that may not create a schema gets the SQL that an administrator must run', async () => {
  await owner.run(`create role no_creator login password 'no_creator'`)
  const url = new URL(clone.url)
  Object.assign(url, { username: 'no_creator', password: 'no_creator' })
  const db = openDatabase(withSchema(url.href, 'cell_9'), { pool_size: 1 })
  const sentence = await migrate(db).then(String, (cause: Error) => cause.message)
  assert.match(sentence, /^The database login no_creator can't use or create the schema cell_9: /)
  assert.match(sentence, /administrator run: create schema "cell_9" authorization "no_creator";$/)
  await db.close()
  await owner.run('drop role no_creator')
})
