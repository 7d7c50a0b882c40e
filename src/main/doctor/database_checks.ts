import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '#platform/config.ts'
import { type Database, openDatabase } from '#platform/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres.ts'
import { pendingMigrations } from '#platform/migrate.ts'
import { runningPostgresUrl } from '#platform/running_postgres.ts'
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
export function databaseChecks(open: () => Promise<OpenBooks | null>): Check[] {
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
