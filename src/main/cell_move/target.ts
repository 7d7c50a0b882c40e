import { placeOf } from '#platform/postgres/database_url.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import type { Session } from '#platform/postgres/session.ts'
import { emptyTables, literal } from '#platform/postgres/whole_tables.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { listTables, moveName, requireNoOtherCells } from './servers.ts'

export async function hasSubscription(target: Session): Promise<boolean> {
  const rows = await target.rows(
    `select from pg_subscription
      where subname = $1
        and subdbid = (select oid from pg_database where datname = current_database())`,
    [moveName(target)],
  )
  return rows.length > 0
}

/** A copy must not mix with rows that are there already. */
export async function requireEmpty(target: Session, url: string): Promise<void> {
  await requireNoOtherCells(target, placeOf(url))
  const tables = await listTables(target)
  const isOurs = ['accounts', 'cell'].every((name) => tables.some((table) => table.name === name))
  const isEmpty =
    isOurs && (await target.rows('select from accounts union all select from cell')).length === 0
  if (tables.length === 0 || isEmpty) return
  throw new ConfigError(
    target.schema === null
      ? `The database at ${placeOf(url)} is not empty. Create a new one there, for example with ` +
          '`createdb`, and name it in --to.'
      : `The schema ${target.schema} at ${placeOf(url)} is not empty. If it is the old copy of a ` +
          'confirmed move, drop it there.',
  )
}

/** Replication between two databases of one server would wait for itself. */
export async function requireOtherServer(source: Session, target: Session): Promise<void> {
  const identify = async (session: Session) => {
    const [row] = await session.rows<{ id: string }>(
      'select system_identifier::text as id from pg_control_system()',
    )
    return row?.id
  }
  if ((await identify(source)) !== (await identify(target))) return
  throw new ConfigError('Both addresses are on the same server. Name another server in --to.')
}

/** Creates the tables; the rows that migrations insert come with the copy. */
export async function createTables(target: Session, admin_url: string): Promise<string[]> {
  const db = openDatabase(admin_url, { pool_size: 1 })
  try {
    await migrate(db)
  } finally {
    await db.close()
  }
  const names = (await listTables(target)).map(({ name }) => name)
  await emptyTables(target, names)
  return names
}

type Subscription = { from: string; slot: string }

/** Begins to copy. The old server's address is the one that the new server can reach. */
export async function subscribe(target: Session, { from, slot }: Subscription): Promise<void> {
  try {
    await target.run(
      `create subscription ${moveName(target)} connection ${literal(withPrimary(from))}
         publication ${moveName(target)} with (slot_name = ${slot})`,
    )
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(
      `The new server could not subscribe to the old one at ${placeOf(from)}: ${reason}. If it ` +
        'must use another address for the old server, name that with --from.',
    )
  }
}

/** With several hosts, the subscription must find the primary, as Florin does. */
function withPrimary(url: string): string {
  if (!placeOf(url).split('/')[0]?.includes(',')) return url
  return `${url}${url.includes('?') ? '&' : '?'}target_session_attrs=read-write`
}

export async function enableSubscription(target: Session): Promise<void> {
  await target.run(`alter subscription ${moveName(target)} enable`)
}

export async function disableSubscription(target: Session): Promise<void> {
  await target.run(`alter subscription ${moveName(target)} disable`)
}

/** From here on, confirmed changes are on disk. Before, that would slow the copy down. */
export async function confirmWhenFlushed(target: Session): Promise<void> {
  await target.run(`alter subscription ${moveName(target)} set (synchronous_commit = on)`)
}

/**
 * Drops the subscription without its slot, which the caller drops on the old server: PostgreSQL
 * refuses to drop a subscription that names a lost slot. In one transaction, because a subscription
 * without a slot can't be enabled again.
 */
export async function unsubscribe(target: Session): Promise<void> {
  if (!(await hasSubscription(target))) return
  await target.run('begin')
  await disableSubscription(target)
  await target.run(`alter subscription ${moveName(target)} set (slot_name = none)`)
  await target.run(`drop subscription ${moveName(target)}`)
  await target.run('commit')
}

export type CopyProgress = { copied: number; tables: number; size: string; errors: number }

export async function readCopyProgress(target: Session): Promise<CopyProgress> {
  const [row] = await target.rows<CopyProgress>(
    `select count(*) filter (where srsubstate = 'r')::integer as copied,
            count(*)::integer as tables,
            (select pg_size_pretty(sum(pg_total_relation_size(oid))) from pg_class
              where relnamespace = current_schema()::regnamespace and relkind = 'r') as size,
            (select (apply_error_count + sync_error_count)::integer
               from pg_stat_subscription_stats s where s.subid = any(array_agg(srsubid))) as errors
       from pg_subscription_rel
      where srsubid = (select oid from pg_subscription where subname = $1
                          and subdbid = (select oid from pg_database
                                          where datname = current_database()))`,
    [moveName(target)],
  )
  return row ?? { copied: 0, tables: 0, size: '', errors: 0 }
}
