import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { diagnose } from '#main/doctor.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { MissingRoles } from '#platform/postgres/roles.ts'
import { readSettings } from '#settings/settings.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { authorize, follow, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

/** A separate server, because roles belong to all databases of a server. */
const folder = await mkdtemp(join(tmpdir(), 'florin_logins_'))
await chmod(folder, 0o711)
const postgres = await startEmbeddedPostgres({ data_dir: folder, durable: false })
after(async () => {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

const urlOf = (database: string, login?: string): string => {
  const url = new URL(postgres.url)
  url.pathname = `/${database}`
  if (login !== undefined) Object.assign(url, { username: login, password: login })
  return url.toString()
}

async function asLogin<Value>(
  url: string,
  work: (db: ReturnType<typeof openDatabase>) => Promise<Value>,
): Promise<Value> {
  const db = openDatabase(url, { pool_size: 1 })
  return work(db).finally(db.close)
}

const administer = (...statements: string[]) =>
  asLogin(urlOf('postgres'), async (db) => {
    for (const sql of statements) await db.run(sql)
  })

const migrated = (url: string) => asLogin(url, migrate)

test('two databases of one server can be migrated at the same time', async () => {
  await administer('create database one', 'create database two')
  const [one, two] = await Promise.all([migrated(urlOf('one')), migrated(urlOf('two'))])
  assert.deepEqual(one, two)
  assert(one.length > 20)
  await administer('drop database one', 'drop database two')
  await administer('drop role florin_service', 'drop role florin_account')
})

test('a login that cannot create roles gets the SQL that an administrator must run', async () => {
  await administer(
    `create role programme_owner login password 'programme_owner'`,
    'create database programme owner programme_owner',
  )
  const url = urlOf('programme', 'programme_owner')
  const refusal = await migrated(url).catch((cause: unknown) => cause)
  assert(refusal instanceof MissingRoles)
  assert.match(refusal.message, /login programme_owner may not create roles/)
  const statements = refusal.message.slice(refusal.message.indexOf('create role florin')).split(';')
  await administer(...statements.filter((sql) => sql.trim() !== ''))
  assert((await migrated(url)).length > 20)
  assert.deepEqual(await migrated(url), [])
})

test('the service works with logins that own nothing, without BYPASSRLS too', async () => {
  await administer(
    `create role for_service login password 'for_service' in role florin_service`,
    `create role for_accounts login password 'for_accounts' in role florin_account`,
    'alter role florin_service nobypassrls',
  )
  const service = await startTestService({
    database_url: urlOf('programme', 'for_service'),
    env: { FLORIN_ACCOUNT_DATABASE_URL: urlOf('programme', 'for_accounts') },
  })
  const spender = await openSpender(service, { usd: 100 })
  const held = await authorize(service.url, spender, { amount: 25.5 })
  const captured = await follow(service.url, spender, { id: held.id, verb: 'capture' })
  assert.equal(captured.type, 'capture')
  await assertBooksSound(service.runtime.db)
})

const DISABLE = 'alter table audit_entries disable trigger all'

test('no statement turns these logins into the owner, nor that of accounts into the service', async () => {
  for (const login of ['for_service', 'for_accounts']) {
    const other = login === 'for_accounts' ? 'florin_service' : 'programme_owner'
    const own = login === 'for_accounts' ? 'florin_account' : 'florin_service'
    const db = openDatabase(urlOf('programme', login), {
      pool_size: 1,
      role: { name: own, can_copy: false },
    })
    await db.connection(async (client) => {
      for (const reset of ['reset role', 'set role none', `set role ${own}`]) {
        await client.query(reset)
        await assert.rejects(client.query(DISABLE), /must be owner/, `${login}: ${reset}`)
        await assert.rejects(client.query(`set role ${other}`), /permission denied/)
        await assert.rejects(client.query('delete from audit_entries'), /permission denied/)
      }
      if (login === 'for_accounts') {
        const { rows } = await client.query('select id from accounts')
        assert.deepEqual(rows, [], 'without the name of an account it sees none')
      }
    })
    await db.close()
  }
})

test('the service does not migrate with a login that does not own the tables', async () => {
  const owner = openDatabase(urlOf('programme', 'programme_owner'), { pool_size: 1 })
  await owner.run(`delete from migrations where name like '0024%'`)
  await owner.close()
  await assert.rejects(
    migrated(urlOf('programme', 'for_service')),
    /0024_operations.sql. The login for_service does not own its tables, so run `florin migrate`/,
  )
})

test("the doctor reports a login that owns the tables, and a role that can't use COPY", async () => {
  const found = async (login: string) => {
    const settings = readSettings({
      FLORIN_DATA_DIR: folder,
      FLORIN_DATABASE_URL: urlOf('programme', login),
    })
    for await (const finding of diagnose({ ...settings, mode: 'live' })) {
      if (finding.name === 'database login') return finding
    }
    return undefined
  }
  const owning = await found('programme_owner')
  assert.equal(owning?.state, 'note')
  assert.match(owning.found, /programme_owner owns the tables/)
  const slow = await found('for_service')
  assert.equal(slow?.state, 'note')
  assert.match(slow.found, /for_service owns no table.*alter role florin_service bypassrls/)
  await administer('alter role florin_service bypassrls')
  assert.equal((await found('for_service'))?.state, 'ok')
})
