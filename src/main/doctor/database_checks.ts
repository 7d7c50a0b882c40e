import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { findCellMove } from '#domain/directory/cell_move_store.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { runningPostgresUrl } from '#platform/embedded_postgres/running.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { pendingMigrations } from '#platform/postgres/migrate.ts'
import { canCopy } from '#platform/postgres/roles.ts'
import type { Settings } from '#settings/settings.ts'
import { type Check, Note } from './check.ts'

const VERSION_MIN = 15
/** Signatures, tokens and windows depend on the time. */
const SKEW_MAX_MS = 2_000

export type OpenBooks = { db: Database; close(): Promise<void> }

/** The database that the service would use; null before the first start. */
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

/** All checks share one connection, which the first one opens. */
export function databaseChecks(
  open: () => Promise<OpenBooks | null>,
  mode: Settings['mode'],
): Check[] {
  const ask = async (run: (db: Database) => Promise<string | Note>) => {
    const books = await open()
    return books === null
      ? new Note('the embedded one is created at the first start')
      : run(books.db)
  }
  return [
    {
      name: 'database',
      cure: 'Check that PostgreSQL is running and that FLORIN_DATABASE_URL is correct.',
      run: () => ask(versionOf),
    },
    {
      name: 'migrations',
      cure: 'Run `florin migrate`, or start the service, which migrates too.',
      run: () => ask(migrationsOf),
    },
    {
      name: 'database login',
      cure: 'See "The database" in docs/security.md.',
      run: () => ask((db) => loginOf(db, mode)),
    },
    {
      name: 'standbys',
      cure: 'Set synchronous_standby_names; see "High availability" in docs/scaling.md.',
      run: () => ask((db) => standbysOf(db, mode)),
    },
    {
      name: 'clock',
      cure: 'Synchronize both machines with a time server (chrony, systemd-timesyncd).',
      run: () => ask(skewOf),
    },
  ]
}

async function versionOf(db: Database): Promise<string> {
  if ((await findCellMove(db))?.state === 'moved') throw new Error('moved to another server')
  const [row] = await db.rows<{ version: string }>(
    `select current_setting('server_version') as version`,
  )
  const version = row?.version ?? ''
  if (Number.parseInt(version, 10) >= VERSION_MIN) return `PostgreSQL ${version}`
  throw new Error(`PostgreSQL ${version}; version ${VERSION_MIN} or later is required`)
}

async function migrationsOf(db: Database): Promise<string> {
  const pending = await pendingMigrations(db)
  if (pending.length === 0) return 'all applied'
  throw new Error(`${pending.length} not applied, starting with ${pending[0]}`)
}

/** A compromised service must not be able to disable the append-only triggers. */
async function loginOf(db: Database, mode: Settings['mode']): Promise<string | Note> {
  const [row] = await db.rows<{ login: string; is_owner: boolean | null }>(
    `select current_user as login, (
       select bool_or(pg_has_role(current_user, relowner, 'USAGE')) from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace) as is_owner`,
  )
  const login = row?.login ?? ''
  if (row?.is_owner !== true) {
    if (await canCopy(db)) return `${login} owns no table`
    return new Note(
      `${login} owns no table; card payments are inserted row by row, which is slower, until a ` +
        'superuser runs "alter role florin_service bypassrls"',
    )
  }
  if (mode === 'sandbox') return `${login} owns the tables`
  return new Note(
    `${login} owns the tables: an attacker in the service could change the audit log. ` +
      'docs/security.md explains how to give the service a login that owns no tables',
  )
}

/** Commits that wait for no standby are lost if the primary is: the standby may lack them. */
async function standbysOf(db: Database, mode: Settings['mode']): Promise<string | Note> {
  const [row] = await db.rows<{ standbys: number; names: string; waits_for: string }>(
    `select (select count(*)::int from pg_stat_replication
              where pid not in (select active_pid from pg_replication_slots
                                 where slot_type = 'logical' and active)) as standbys,
            current_setting('synchronous_standby_names') as names,
            current_setting('synchronous_commit') as waits_for`,
  )
  const { standbys = 0, names = '', waits_for = '' } = row ?? {}
  const isSynchronous = names !== '' && !['off', 'local'].includes(waits_for)
  if (standbys === 0 && !isSynchronous) {
    return mode === 'live' ? new Note('none: see docs/scaling.md') : 'none'
  }
  const connected = `${standbys} connected`
  if (isSynchronous) return `${connected}, synchronous (${names})`
  const found = `${connected}, asynchronous: a failover would lose acknowledged writes`
  if (mode === 'live') throw new Error(found)
  return new Note(found)
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
