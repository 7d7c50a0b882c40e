import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { releaseArchiveLock, takeArchiveLock } from '#domain/archive/archive_lock.ts'
import {
  archived_tables,
  detachMonths,
  dropDetached,
  findInterrupted,
  findLeaving,
  findPrevious,
  type LeavingMonths,
  requireFinished,
} from '#domain/archive/leaving_store.ts'
import { findCellMove } from '#domain/directory/cell_move_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { exportRows, flush, sumRows } from './export_rows.ts'
import { MANIFEST, type Manifest, type ReadManifest, signManifest } from './manifest.ts'
import { verifyArchive } from './verify_archive.ts'

export type ArchiveInput = {
  /** As the owner of the tables. */
  session: Tx
  keys: Keys
  cell: number
  /** The folder of all archives. */
  to: string
  /** Only whole months before this leave. */
  before: Date
  now: Date
  report(line: string): void
}

/**
 * Archives the months of movements and transactions that are old enough. Their rows are in the
 * database until the files are on the disk and were read again: the months are detached in one
 * commit, compared with the files, and dropped in another. A command that dies continues with the
 * next run. Returns the folder, or null if there is nothing to archive.
 */
export async function createArchive(input: ArchiveInput): Promise<string | null> {
  const { session } = input
  await requireReady(session)
  try {
    return await archiveMonths(input)
  } finally {
    await releaseArchiveLock(session)
  }
}

async function archiveMonths(input: ArchiveInput): Promise<string | null> {
  const { session, before, report } = input
  const interrupted = await findInterrupted(session)
  if (interrupted !== null) {
    report('Continuing an archive that was interrupted.')
    return finish(input, interrupted)
  }
  const leaving = await findLeaving(session, before)
  if (leaving === null) return null
  await requireFinished(session, leaving)
  await ensureFiles(input, leaving)
  return finish(input, { ...leaving, tables: await detach(session, leaving) })
}

async function requireReady(session: Tx): Promise<void> {
  const [row] = await session.rows<{ is_owner: boolean }>(
    `select pg_has_role(current_user, relowner, 'USAGE') as is_owner
       from pg_class where oid = 'movements'::regclass`,
  )
  if (row?.is_owner !== true) {
    throw new ConfigError(
      'Only the login that owns the tables can archive: the one that runs `florin migrate`.',
    )
  }
  if (!(await takeArchiveLock(session))) {
    throw new ConfigError('Another command is archiving or moving this database.')
  }
  if ((await findCellMove(session)) !== undefined) {
    throw new ConfigError('This database is being moved. Archive it when the move is confirmed.')
  }
}

/** Calls wait for this lock, so it is given up soon if a long statement holds it. */
const LOCK_MS = 2_000

async function detach(session: Tx, leaving: LeavingMonths): Promise<LeavingMonths['tables']> {
  await session.run('begin')
  try {
    // Citus sends the limit to its workers only with this. PostgreSQL alone ignores it.
    await session.run(`set local citus.propagate_set_commands = 'local'`)
    await session.run(`set local lock_timeout = ${LOCK_MS}`)
    const tables = await detachMonths(session, leaving)
    await session.run('commit')
    return tables
  } catch (cause) {
    await session.run('rollback')
    if ((cause as { code?: string }).code !== '55P03') throw cause
    throw new ConfigError('The tables are in use by a long statement. Run the command again.')
  }
}

/** Nothing changes the detached rows, so equal files can replace them. */
async function finish(input: ArchiveInput, leaving: LeavingMonths): Promise<string> {
  const { session, now, report } = input
  const { manifest, sha256 } = await ensureFiles(input, leaving)
  await session.run('begin')
  await dropDetached(session, leaving, { sha256, now })
  await session.run('commit')
  for (const { table, rows } of manifest.files) report(`${table}: ${rows} rows`)
  return folderOf(input, leaving)
}

/** Sorts by time. */
const folderOf = ({ to, cell }: ArchiveInput, { since }: LeavingMonths): string =>
  join(to, `cell${cell}_until_${since.toISOString().slice(0, 7)}`)

/** The files are on the disk, were read again, and have exactly the rows of these tables. */
async function ensureFiles(input: ArchiveInput, leaving: LeavingMonths): Promise<ReadManifest> {
  const folder = folderOf(input, leaving)
  const found = await readComplete(folder, input.keys)
  if (found !== null && (await hasAllRows(input.session, leaving, found))) return found
  await writeFiles(input, leaving)
  const written = await verifyArchive(folder, input.keys)
  if (await hasAllRows(input.session, leaving, written)) return written
  throw new ConfigError('Rows changed while they were written. Run the command again.')
}

/** Null if the files are missing or damaged: the rows are still in the database. */
const readComplete = (folder: string, keys: Keys): Promise<ReadManifest | null> =>
  verifyArchive(folder, keys).catch((cause: unknown) => {
    if (cause instanceof ConfigError) return null
    throw cause
  })

async function hasAllRows(
  session: Tx,
  { tables }: LeavingMonths,
  { manifest }: { manifest: Manifest },
): Promise<boolean> {
  for (const table of archived_tables) {
    const file = manifest.files.find((each) => each.table === table)
    const sum = await sumRows(session, tables[table])
    if (file?.rows !== sum.rows || file.row_hash !== sum.row_hash) return false
  }
  return true
}

/** Writes the files, flushes them, and only then gives the folder its name. */
async function writeFiles(input: ArchiveInput, leaving: LeavingMonths): Promise<void> {
  const { session, keys, cell, to, now, report } = input
  const { from, floor, since, tables } = leaving
  const folder = folderOf(input, leaving)
  const draft = `${folder}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true, mode: 0o700 })
  const files = []
  for (const table of archived_tables) {
    report(`Writing ${table}.`)
    files.push(await exportRows(session, { table, names: tables[table], folder: draft }))
  }
  const previous = await findPrevious(session, floor)
  const text = signManifest(keys, {
    cell,
    from,
    floor,
    until: since.toISOString(),
    made_at: now.toISOString(),
    previous_sha256: previous?.sha256 ?? null,
    files,
  })
  await writeFile(join(draft, MANIFEST), text)
  for (const path of [join(draft, MANIFEST), draft]) await flush(path)
  await setAside(folder, now)
  await rename(draft, folder)
  await flush(to)
}

/** Other files under this name may be the only copy of their rows, after a restore for example. */
async function setAside(folder: string, now: Date): Promise<void> {
  await rename(folder, `${folder}.replaced_${now.getTime()}`).catch((cause: unknown) => {
    if ((cause as { code?: string }).code !== 'ENOENT') throw cause
  })
}
