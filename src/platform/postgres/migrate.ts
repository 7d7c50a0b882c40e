import type pg from 'pg'
import manifest from '#package.json' with { type: 'json' }
import { ConfigError } from '#platform/settings/environment.ts'
import { KEY_OF_NUMBER } from './advisory_key.ts'
import { findOlderNodes } from './connected_nodes.ts'
import type { Database } from './db.ts'
import {
  isAllowed,
  MIGRATIONS_DIR,
  type Migration,
  migrationNumber,
  readMigrations,
  statementsOf,
} from './migration_files.ts'
import { requireRoles } from './roles.ts'
import { SCHEMA_SETTING } from './schema.ts'
import { createSchema, grantSchema } from './schema_rights.ts'

// Any fixed number: it only has to be the same on every node that may migrate.
const MIGRATION_LOCK = 7_310_265

const CREATE_TABLE = `create table migrations (
  name text primary key, checksum text not null, applied_at timestamptz not null default now(),
  is_incompatible boolean not null default false, allows text)`

/**
 * is_owner is null if the table doesn't exist yet; a superuser counts as the owner. A schema that
 * doesn't exist, or that the login may not use, is not the current one.
 */
const OWNERSHIP = `select current_user as login,
    pg_has_role(current_user, relowner, 'USAGE') as is_owner,
    ${SCHEMA_SETTING} as schema, current_schema() is null as lacks_schema
  from (select) as one left join pg_class on oid = to_regclass('migrations')`

/** Citus requires it. Triggers here only refuse changes. PostgreSQL alone ignores the setting. */
const ALLOW_TRIGGERS = 'set citus.enable_unsafe_triggers = on'

const APPLIED = 'select * from migrations order by name'

type AppliedMigration = Pick<Migration, 'name' | 'checksum' | 'is_incompatible' | 'allows'>

/**
 * Applies pending migrations in order, each in its own transaction, on one node at a time.
 * Migrations only go forward: an applied file that has changed stops the start. Before an
 * incompatible one, all nodes of older versions must be stopped.
 */
export function migrate(db: Database): Promise<string[]> {
  return migrateFrom(MIGRATIONS_DIR, db)
}

export async function migrateFrom(folder: string, db: Database): Promise<string[]> {
  const known = await readMigrations(folder)
  return db.connection(async (client) => {
    // A migration of a large table may take long, and other nodes wait for it.
    await client.query('set statement_timeout = 0; set lock_timeout = 0')
    await client.query(ALLOW_TRIGGERS)
    await client.query(`select pg_advisory_lock(${KEY_OF_NUMBER})`, [MIGRATION_LOCK])
    try {
      const { login, is_owner, schema, lacks_schema } = await ownershipOf(client)
      if (schema !== null && lacks_schema) await createSchema(client, schema, login)
      if (is_owner === null) await client.query(CREATE_TABLE)
      if (is_owner !== false) await requireRoles(client)
      if (schema !== null && is_owner !== false) await grantSchema(client, schema)
      const { rows: applied } = await client.query<AppliedMigration>(APPLIED)
      const pending = findPending(known, applied)
      if (pending.length > 0 && is_owner === false) throw notOwnerError(login, pending)
      await requireNoOlderNodes(client, pending)
      for (const migration of pending) await apply(client, migration)
      return pending.map(({ name }) => name)
    } finally {
      await client.query(`select pg_advisory_unlock(${KEY_OF_NUMBER})`, [MIGRATION_LOCK])
      await client.query('reset statement_timeout; reset lock_timeout')
    }
  })
}

/** Calls of running nodes may lock two tables in the other order; PostgreSQL ends one of them. */
const DEADLOCK = '40P01'
const ATTEMPTS = 10

async function apply(client: pg.ClientBase, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await applyOnce(client, migration)
    } catch (cause) {
      if ((cause as { code?: unknown }).code === DEADLOCK && attempt < ATTEMPTS) continue
      throw new Error(`the migration ${migration.name} failed`, { cause })
    }
  }
}

async function applyOnce(
  client: pg.ClientBase,
  { name, sql, checksum, is_incompatible, allows }: Migration,
): Promise<void> {
  await client.query('begin')
  try {
    for (const statement of statementsOf(sql)) await client.query(statement)
    await client.query(
      `insert into migrations (name, checksum, is_incompatible, allows) values ($1, $2, $3, $4)`,
      [name, checksum, is_incompatible, allows],
    )
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback')
    throw cause
  }
}

async function requireNoOlderNodes(
  client: pg.ClientBase,
  pending: readonly Migration[],
): Promise<void> {
  for (const migration of pending.filter(({ is_incompatible }) => is_incompatible)) {
    const nodes = await findOlderNodes(client, migration)
    if (nodes.length > 0) throw olderNodesError(migration, nodes)
  }
}

function olderNodesError({ name, allows }: Migration, nodes: readonly string[]): ConfigError {
  const refused =
    allows === null ? 'older versions of Florin' : `versions of Florin before ${allows}`
  return new ConfigError(
    `The migration ${name} is incompatible with ${refused}, and these are connected to the ` +
      `database: ${nodes.join(', ')}. Stop them, then start this version or run \`florin ` +
      'migrate` again. Nothing was changed.',
  )
}

type Ownership = {
  login: string
  is_owner: boolean | null
  schema: string | null
  lacks_schema: boolean
}

async function ownershipOf(client: pg.ClientBase): Promise<Ownership> {
  const { rows } = await client.query<Ownership>(OWNERSHIP)
  return rows[0] ?? { login: '', is_owner: null, schema: null, lacks_schema: false }
}

const notOwnerError = (login: string, pending: readonly Migration[]) =>
  new Error(
    `Not applied to the database yet: ${pending.map(({ name }) => name).join(', ')}. The login ` +
      `${login} does not own its tables, so run \`florin migrate\` with the owner's login in ` +
      'FLORIN_DATABASE_URL first.',
  )

/** The migrations that the next start would apply. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const known = await readMigrations(MIGRATIONS_DIR)
  const [table] = await db.rows<{ exists: boolean }>(
    `select to_regclass('migrations') is not null as exists`,
  )
  const applied = table?.exists ? await db.rows<AppliedMigration>(APPLIED) : []
  return findPending(known, applied).map(({ name }) => name)
}

const NEW_DATABASE =
  'Use a new database (without FLORIN_DATABASE_URL: another FLORIN_DATA_DIR), or the version ' +
  'that created this one.'

function findPending(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  requireKnown(known, applied)
  const checksum_of = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  for (const { name, checksum, former_checksums } of known) {
    if ([checksum, ...former_checksums].includes(checksum_of.get(name) ?? checksum)) continue
    throw new ConfigError(
      `The migration ${name} was changed after it was applied here. ${NEW_DATABASE}`,
    )
  }
  return known.filter(({ name }) => !checksum_of.has(name))
}

/**
 * A newer version may have migrated the database, as long as this version can still use it, so a
 * node can restart during a rolling upgrade.
 */
function requireKnown(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const names = new Set(known.map(({ name }) => name))
  const newest = migrationNumber(known.at(-1)?.name ?? '0')
  for (const { name, is_incompatible, allows } of applied) {
    if (names.has(name)) continue
    if (migrationNumber(name) <= newest) {
      throw new ConfigError(
        `The database has the migration ${name}, which is not part of Florin ` +
          `${manifest.version}. ${NEW_DATABASE}`,
      )
    }
    if (is_incompatible && !isAllowed(manifest.version, allows)) {
      throw new ConfigError(
        `A newer version of Florin changed the database with ${name}, and ${manifest.version} ` +
          'can no longer use it. Start the newer version, or restore the backup from before it.',
      )
    }
  }
}
