import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import { DatabaseUnavailable, openDatabase } from './db.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 2 })
after(async () => {
  await db.close()
  await clone.drop()
})

// A deferred trigger runs within COMMIT, so its warning arrives where the server warns that the
// wait for a standby was cut short.
await db.run('create table jars (name text primary key)')
await db.run(`
  create function warn() returns trigger language plpgsql as $$
  begin
    if new.name = 'warned' then
      raise warning 'canceling wait for synchronous replication due to user request';
    end if;
    return null;
  end $$`)
await db.run(`
  create constraint trigger warn_at_commit after insert on jars
    deferrable initially deferred for each row execute function warn()`)

const insert = (name: string) =>
  db.transaction((tx) => tx.run('insert into jars values ($1)', [name]))

test('a commit with a warning is not reported as done', async () => {
  await assert.rejects(insert('warned'), (cause) => {
    assert.ok(cause instanceof DatabaseUnavailable)
    assert.match(cause.message, /uncertain: canceling wait for synchronous replication/)
    return true
  })
})

test('a commit without a warning succeeds, also on a connection that was warned before', async () => {
  for (const name of ['one', 'two', 'three']) await insert(name)
  const rows = await db.rows<{ name: string }>(`select name from jars where name <> 'warned'`)
  assert.equal(rows.length, 3)
})
