import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { root } from '#platform/runtime/root.ts'
import type { Database } from './db.ts'
import { requireRoles } from './roles.ts'

const MIGRATIONS_DIR = join(root, 'migrations')

// Any fixed number: it only has to be the same on every node that may migrate.
const MIGRATION_LOCK = 7_310_265

const CREATE_TABLE = `create table migrations (
  name text primary key, checksum text not null, applied_at timestamptz not null default now())`

/** is_owner is null if the table doesn't exist yet; a superuser counts as the owner. */
const OWNERSHIP = `select current_user as login,
    pg_has_role(current_user, relowner, 'USAGE') as is_owner
  from (select) as one left join pg_class on oid = to_regclass('migrations')`

type Migration = { name: string; sql: string; checksum: string }

/**
 * Applies the pending migrations in order, each in its own transaction, on one node at a time.
 * Forward only: an applied migration whose file has changed stops the start.
 */
export async function migrate(db: Database): Promise<string[]> {
  const migrations = await readMigrations()
  return db.connection(async (client) => {
    // A migration of a large table may take long, and other nodes wait for it.
    await client.query('set statement_timeout = 0; set lock_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    try {
      const { login, is_owner } = await ownershipOf(client)
      if (is_owner === null) await client.query(CREATE_TABLE)
      if (is_owner !== false) await requireRoles(client)
      const { rows } = await client.query<Omit<Migration, 'sql'>>(
        'select name, checksum from migrations',
      )
      const applied = new Map(rows.map((row) => [row.name, row.checksum]))
      const pending = migrations.filter((migration) => !isApplied(migration, applied))
      if (pending.length > 0 && is_owner === false) throw notOwnerError(login, pending)
      for (const { name, sql, checksum } of pending) {
        await client.query('begin')
        try {
          await client.query(sql)
          await client.query('insert into migrations (name, checksum) values ($1, $2)', [
            name,
            checksum,
          ])
          await client.query('commit')
        } catch (cause) {
          await client.query('rollback')
          throw new Error(`the migration ${name} failed`, { cause })
        }
      }
      return pending.map((migration) => migration.name)
    } finally {
      await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
      await client.query('reset statement_timeout; reset lock_timeout')
    }
  })
}

type Ownership = { login: string; is_owner: boolean | null }

async function ownershipOf(client: pg.ClientBase): Promise<Ownership> {
  const { rows } = await client.query<Ownership>(OWNERSHIP)
  return rows[0] ?? { login: '', is_owner: null }
}

const notOwnerError = (login: string, pending: readonly Migration[]) =>
  new Error(
    `Not applied to the database yet: ${pending.map(({ name }) => name).join(', ')}. The login ` +
      `${login} does not own its tables, so run \`florin migrate\` with the owner's login in ` +
      'FLORIN_DATABASE_URL first.',
  )

/** The migrations that the next start would apply. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const migrations = await readMigrations()
  const [table] = await db.rows<{ is_there: boolean }>(
    `select to_regclass('migrations') is not null as is_there`,
  )
  const rows = table?.is_there
    ? await db.rows<Omit<Migration, 'sql'>>('select name, checksum from migrations')
    : []
  const applied = new Map(rows.map((row) => [row.name, row.checksum]))
  return migrations.filter((each) => !isApplied(each, applied)).map(({ name }) => name)
}

function isApplied(migration: Migration, applied: ReadonlyMap<string, string>): boolean {
  const checksum = applied.get(migration.name)
  if (checksum !== undefined && checksum !== migration.checksum) {
    throw new Error(`the migration ${migration.name} was changed after it was applied here`)
  }
  return checksum !== undefined
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(`${MIGRATIONS_DIR}/${name}`, 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
