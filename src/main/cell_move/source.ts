import type { Session } from '#platform/postgres/session.ts'
import { listed } from '#platform/postgres/whole_tables.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { listTables, moveName } from './servers.ts'

/** Slots belong to the whole server, so the name contains the database. */
export async function slotOf(source: Session): Promise<string> {
  const [row] = await source.rows<{ oid: string }>(
    `select oid::text from pg_database where datname = current_database()`,
  )
  return `${moveName(source)}_${row?.oid}`
}

/** Citus stores the rows of a cell in tables with names of its own. */
export async function requirePlain(source: Session, cell: number): Promise<void> {
  const found = await source.rows(`select from pg_extension where extname = 'citus'`)
  if (found.length === 0) return
  throw new ConfigError(
    `Cell ${cell} is on Citus, which moves schemas itself: run citus_schema_move on its ` +
      'coordinator.',
  )
}

/** Throws if the old server can't send its changes to another one. */
export async function requireLogical(source: Session): Promise<void> {
  const [row] = await source.rows<{ wal_level: string }>('show wal_level')
  if (row?.wal_level === 'logical') return
  throw new ConfigError(
    `The old server has wal_level = ${row?.wal_level}, and a move needs logical. Run ` +
      '"alter system set wal_level = logical" there and restart it (with Patroni: set it with ' +
      '`patronictl edit-config`, then `patronictl restart`). Then run this command again.',
  )
}

/**
 * Publishes the tables that the new server has too. Returns those that it doesn't have. The new
 * server puts rows of partitioned tables into partitions of its own.
 */
export async function publish(source: Session, names: readonly string[]): Promise<string[]> {
  const tables = (await listTables(source)).map(({ name }) => name)
  await unpublish(source)
  await source.run(
    `create publication ${moveName(source)} for table ${listed(names)}
       with (publish_via_partition_root = true)`,
  )
  return tables.filter((name) => !names.includes(name))
}

export async function unpublish(source: Session): Promise<void> {
  await source.run(`drop publication if exists ${moveName(source)}`)
}

/** Drops the slot if there is one. Its subscription must be gone, or it would connect again. */
export async function dropSlot(source: Session): Promise<void> {
  const slot = await slotOf(source)
  await source.rows(
    `select pg_terminate_backend(active_pid, 5000) from pg_replication_slots
      where slot_name = $1 and active_pid is not null`,
    [slot],
  )
  await source.rows(
    'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
    [slot],
  )
}

/** A new primary does not have the slot, and max_slot_wal_keep_size can make it useless. */
const SLOT = `from pg_replication_slots
  where slot_name = $1 and wal_status is distinct from 'lost'`

/** Throws if changes are lost that the new server does not have: it would wait for them forever. */
export async function requireSlot(source: Session, cell: number): Promise<void> {
  if ((await source.rows(`select ${SLOT}`, [await slotOf(source)])).length > 0) return
  throw new ConfigError(
    `The old server no longer has the replication slot of the move of cell ${cell}, for example ` +
      'because its primary has changed, so changes are missing on the new server. Run `florin ' +
      `cells move ${cell} --cancel\`, with --from and --admin if you gave them here, then begin ` +
      'again. The cell continues on the old server.',
  )
}

/** The bytes of changes that the new server has not confirmed yet. */
export async function readLag(source: Session): Promise<number> {
  const [row] = await source.rows<{ bytes: string | null }>(
    `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), confirmed_flush_lsn)::text as bytes
       ${SLOT}`,
    [await slotOf(source)],
  )
  return Number(row?.bytes ?? Number.POSITIVE_INFINITY)
}
