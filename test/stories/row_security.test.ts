import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type AccountDatabase, openAccountPool, openDatabase } from '#platform/postgres/db.ts'
import { ACCOUNT_ROLE, SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const clone = await cloneDatabase()
const owner = openDatabase(clone.url, { pool_size: 2 })
const service = openDatabase(clone.url, {
  pool_size: 2,
  role: { name: SERVICE_ROLE, can_copy: true },
})
const accounts = openAccountPool(clone.url, { pool_size: 2 })
after(async () => {
  await Promise.all([owner.close(), service.close(), accounts.close()])
  await clone.drop()
})

type Table = { name: string; key: string }

/** Whose rows they are: account_id, and the id of the account itself. */
const accountTables = await owner.rows<Table>(
  `select c.relname as name, a.attname as key
     from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and not c.relispartition
      and c.relnamespace = 'public'::regnamespace
      and (a.attname = 'account_id' or (c.relname, a.attname) = ('accounts', 'id'))
    order by 1`,
)

const tables = async (condition: string): Promise<string[]> =>
  (
    await owner.rows<{ name: string }>(
      `select c.relname as name from pg_class c
        where c.relkind in ('r', 'p') and not c.relispartition
          and c.relnamespace = 'public'::regnamespace
          and c.relname <> 'migrations' and ${condition}
        order by 1`,
    )
  ).map(({ name }) => name)

test('every table with an account_id has a policy for the account and one for the service', async () => {
  assert(accountTables.length > 35)
  const policies = (role: string) => `c.relrowsecurity and exists (
    select from pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd = '*'
       and p.polroles = array['${role}'::regrole::oid])`
  const expected = accountTables.map(({ name }) => name)
  assert.deepEqual(await tables(policies(ACCOUNT_ROLE)), expected)
  assert.deepEqual(await tables(policies(SERVICE_ROLE)), expected)
  const other = await owner.rows(
    `select from pg_policy where not polroles <@ array['${ACCOUNT_ROLE}'::regrole::oid,
                                                       '${SERVICE_ROLE}'::regrole::oid]`,
  )
  assert.deepEqual(other, [], 'no policy is for anybody else')
})

test('every table has a primary key, by which a copy on another server finds its rows', async () => {
  const hasKey = `exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`
  assert.deepEqual(await tables(`not ${hasKey}`), [])
})

test('no migration forgets a table: each gives the service what it needs', async () => {
  const forgotten = await tables(
    `not (has_table_privilege('${SERVICE_ROLE}', c.oid, 'select')
          and has_table_privilege('${SERVICE_ROLE}', c.oid, 'insert'))`,
  )
  assert.deepEqual(forgotten, [])
})

test('a partition is reached through its table only, so that its policies apply', async () => {
  const partitions = await owner.rows<{ name: string; is_open: boolean }>(
    `select relname as name, relacl is not null and exists (
              select from aclexplode(relacl) where grantee <> relowner) as is_open
       from pg_class where relispartition and relkind = 'r'`,
  )
  assert(partitions.length >= 6)
  assert.deepEqual(
    partitions.filter(({ is_open }) => is_open),
    [],
  )
})

test('the roles own nothing, and may not change or remove rows of append-only tables', async () => {
  const append_only = `exists (select from pg_trigger t
    where t.tgrelid = c.oid and t.tgfoid = 'refuse_change'::regproc)`
  assert((await tables(append_only)).length >= 10)
  for (const role of [SERVICE_ROLE, ACCOUNT_ROLE]) {
    assert.deepEqual(await tables(`pg_has_role('${role}', c.relowner, 'usage')`), [])
    assert.deepEqual(
      await tables(`has_table_privilege('${role}', c.oid, 'truncate, references, trigger')`),
      [],
    )
    assert.deepEqual(
      await tables(`${append_only} and has_table_privilege('${role}', c.oid, 'update, delete')`),
      [],
    )
  }
  const triggers = 'alter table audit_entries disable trigger all'
  await assert.rejects(service.run(triggers), /must be owner/)
  await assert.rejects(accounts.of('acct_a').run(triggers), /must be owner/)
  await assert.rejects(service.run('delete from movements'), /permission denied/)
})

/** Rows need only their account: the other constraints of a table are not tested here. */
async function fill(): Promise<void> {
  await owner.connection((client) =>
    client.query(`do $$
      declare one record;
      begin
        for one in select conname, conrelid::regclass as rel from pg_constraint
                    where contype = 'f' and connamespace = 'public'::regnamespace loop
          execute format('alter table %s drop constraint %I', one.rel, one.conname);
        end loop;
        for one in select conname, conrelid::regclass as rel from pg_constraint
                    where contype <> 'n' and coninhcount = 0 and conrelid <> 0
                      and connamespace = 'public'::regnamespace loop
          execute format('alter table %s drop constraint %I', one.rel, one.conname);
        end loop;
        for one in select attrelid::regclass as rel, attname from pg_attribute
                     join pg_class c on c.oid = attrelid
                    where relkind in ('r', 'p') and not relispartition
                      and relnamespace = 'public'::regnamespace
                      and attnum > 0 and attnotnull and attidentity = '' loop
          execute format('alter table %s alter column %I drop not null', one.rel, one.attname);
        end loop;
        for one in select partrelid::regclass as rel from pg_partitioned_table loop
          execute format('alter table %s alter column id set default %L', one.rel, '');
        end loop;
        alter table disputes disable trigger disputes_of_transactions;
      end $$`),
  )
  for (const { name, key } of accountTables) {
    await owner.run(`insert into ${name} (${key}) values ('acct_a'), ('acct_b')`)
  }
}

const owners = async (db: AccountDatabase, { name, key }: Table): Promise<string[]> =>
  (await db.rows<{ whose: string }>(`select ${key} as whose from ${name}`)).map(
    ({ whose }) => whose,
  )

const may = async (role: string, table: string, action: string): Promise<boolean> => {
  const [row] = await owner.rows<{ may: boolean }>(
    'select has_table_privilege($1, $2, $3) as may',
    [role, table, action],
  )
  return row?.may === true
}

test('a call of one account reads and changes no row of another, in any table', async () => {
  await fill()
  const a = accounts.of('acct_a')
  for (const table of accountTables) {
    const { name, key } = table
    assert.deepEqual((await owners(service, table)).sort(), ['acct_a', 'acct_b'], name)
    const actions = {
      select: () => owners(a, table),
      update: () => a.run(`update ${name} set ${key} = ${key} where ${key} = 'acct_b'`),
      delete: () => a.run(`delete from ${name} where ${key} = 'acct_b'`),
      insert: () => a.run(`insert into ${name} (${key}) values ('acct_b')`),
    }
    for (const [action, attempt] of Object.entries(actions)) {
      const what = `${action} of ${name}`
      if (!(await may(ACCOUNT_ROLE, name, action))) {
        await assert.rejects(attempt(), /permission denied/, what)
      } else if (action === 'insert') {
        await assert.rejects(attempt(), /row-level security/, what)
      } else {
        assert.deepEqual(await attempt(), action === 'select' ? ['acct_a'] : 0, what)
      }
    }
    if (await may(ACCOUNT_ROLE, name, 'update')) {
      const given_away = a.run(`update ${name} set ${key} = 'acct_b' where ${key} = 'acct_a'`)
      await assert.rejects(given_away, /row-level security/, name)
    }
    assert.deepEqual((await owners(service, table)).sort(), ['acct_a', 'acct_b'], name)
  }
})

test('each statement and transaction sees its own account, also when they share a connection', async () => {
  const one = openAccountPool(clone.url, { pool_size: 1 })
  const whose = (account_id: string) =>
    owners(one.of(account_id), { name: 'cards', key: 'account_id' })
  const seen = await Promise.all([
    whose('acct_a'),
    one.of('acct_b').transaction((tx) => tx.rows('select account_id from cards')),
    whose('acct_a'),
    whose('acct_b'),
    whose(''),
  ])
  await one.close()
  assert.deepEqual(seen, [['acct_a'], [{ account_id: 'acct_b' }], ['acct_a'], ['acct_b'], []])
})

test('through the front door a handler that forgets its account sees one account', async () => {
  const { url, runtime } = await startTestService()
  const [ada, bob] = [await openAccount(url), await openAccount(url)]
  const { key } = await createKey(url, ada.bearer)
  for (const bearer of [ada.bearer, key]) {
    const db = runtime.databaseOf(await runtime.credentials.callerOf(bearer))
    assert.deepEqual(await db.rows('select id from accounts'), [{ id: ada.account_id }])
    await db.transaction(async (tx) => {
      assert.deepEqual(await tx.rows('select id from accounts'), [{ id: ada.account_id }])
      const changed = await tx.run(`update accounts set status = 'suspended' where id = $1`, [
        bob.account_id,
      ])
      assert.equal(changed, 0)
    })
  }
  const all = await runtime.databaseOf(null).rows('select id from accounts')
  assert.equal(all.length, 2, 'sign-in looks for the account')
})
