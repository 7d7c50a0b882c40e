import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { runningPostgresUrl } from '#platform/embedded_postgres/running.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { pendingMigrations } from '#platform/postgres/migrate.ts'
import type { Settings } from '#settings/settings.ts'
import { type Check, Note } from './check.ts'

const VERSION_MIN = 15
/** Signatures, tokens and windows are judged by the second. */
const SKEW_MAX_MS = 2_000

export type OpenBooks = { db: Database; close(): Promise<void> }

/** The database as the service would find it; null where there is none to find yet. */
export async function openBooks({ database_url, data_dir }: Settings): Promise<OpenBooks | null> {
  const address = database_url?.open() ?? (await runningPostgresUrl(data_dir))
  if (address !== null) {
    const db = openDatabase(address)
    return { db, close: db.close }
  }
  const isMade = await access(join(data_dir, 'postgres')).then(
    () => true,
    () => false,
  )
  if (!isMade) return null
  const embedded = await startEmbeddedPostgres({ data_dir })
  const db = openDatabase(embedded.url)
  return { db, close: () => db.close().then(embedded.stop) }
}

/** They share one connection, which the first of them opens. */
export function databaseChecks(
  open: () => Promise<OpenBooks | null>,
  mode: Settings['mode'],
): Check[] {
  const ask = async (look: (db: Database) => Promise<string | Note>) => {
    const books = await open()
    return books === null ? new Note('the embedded one is made at the first start') : look(books.db)
  }
  return [
    {
      name: 'database',
      cure: 'Look whether PostgreSQL runs, and whether FLORIN_DATABASE_URL names it rightly.',
      look: () => ask(versionOf),
    },
    {
      name: 'migrations',
      cure: 'Run `florin migrate`, or start the service, which does it too.',
      look: () => ask(migrationsOf),
    },
    {
      name: 'database login',
      cure: 'See "The database" in docs/security.md.',
      look: () => ask((db) => loginOf(db, mode)),
    },
    {
      name: 'clock',
      cure: 'Let both machines follow a time server (chrony, systemd-timesyncd).',
      look: () => ask(skewOf),
    },
  ]
}

async function versionOf(db: Database): Promise<string> {
  const [row] = await db.rows<{ version: string }>(
    `select current_setting('server_version') as version`,
  )
  const version = row?.version ?? ''
  if (Number.parseInt(version, 10) >= VERSION_MIN) return `PostgreSQL ${version}`
  throw new Error(`PostgreSQL ${version}, and ${VERSION_MIN} is the oldest that will do`)
}

async function migrationsOf(db: Database): Promise<string> {
  const pending = await pendingMigrations(db)
  if (pending.length === 0) return 'all applied'
  throw new Error(`${pending.length} not applied, from ${pending[0]} on`)
}

/** A service that is taken over must not be able to disable the append-only triggers. */
async function loginOf(db: Database, mode: Settings['mode']): Promise<string | Note> {
  const [row] = await db.rows<{ login: string; is_owner: boolean | null }>(
    `select current_user as login, (
       select bool_or(pg_has_role(current_user, relowner, 'USAGE')) from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace) as is_owner`,
  )
  const login = row?.login ?? ''
  if (row?.is_owner !== true) return `${login} owns no table`
  if (mode === 'sandbox') return `${login} owns the tables`
  return new Note(
    `${login} owns the tables: whoever takes over the service could change the audit log. ` +
      'docs/security.md says how to give the service a login that owns nothing',
  )
}

async function skewOf(db: Database): Promise<string> {
  const asked_ms = Date.now()
  const [row] = await db.rows<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  const here_ms = (asked_ms + Date.now()) / 2
  const skew_ms = Math.round(Math.abs((row?.ms ?? 0) - here_ms))
  if (skew_ms <= SKEW_MAX_MS) return `${skew_ms} ms from the database's`
  throw new Error(`${(skew_ms / 1_000).toFixed(1)} s from the database's`)
}
