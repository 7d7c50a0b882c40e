import { placeOf } from '#platform/postgres/database_url.ts'
import { channelIn } from '#platform/postgres/notify.ts'
import { openSession, type Session } from '#platform/postgres/session.ts'
import { quoted } from '#platform/postgres/whole_tables.ts'
import { ConfigError } from '#platform/settings/environment.ts'

/** Opens a connection as an administrator; the message says which server refuses it. */
export async function openAdministrator(url: string, which: 'old' | 'new'): Promise<Session> {
  let session: Session
  try {
    session = await openSession(url)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`Can't connect to the ${which} server at ${placeOf(url)}: ${reason}`)
  }
  const [login] = await session.rows<{ name: string; is_superuser: boolean }>(
    `select current_user as name, rolsuper as is_superuser
       from pg_roles where rolname = current_user`,
  )
  if (login?.is_superuser === true) {
    // Both copies are read-only for others at times.
    await session.run('set default_transaction_read_only = off')
    return session
  }
  await session.close()
  const option = which === 'old' ? '--from' : '--admin'
  throw new ConfigError(
    `The login ${login?.name} is not a superuser of the ${which} server. Only a superuser can ` +
      `set up replication: name one with ${option}.`,
  )
}

/** A database has one set of publications and subscriptions for all its schemas. */
export const moveName = ({ schema }: Session): string => channelIn(schema, 'florin_move')

/** The move of a cell in public closes the whole database, so no other cell may be in it. */
export async function requireNoOtherCells(session: Session, place: string): Promise<void> {
  if (session.schema !== null) return
  const [other] = await session.rows<{ schema: string }>(
    `select relnamespace::regnamespace::text as schema from pg_class
      where relname = 'cell_move' and relkind = 'r'
        and relnamespace <> current_schema()::regnamespace
      order by 1`,
  )
  if (other === undefined) return
  throw new ConfigError(
    `The database at ${place} has another cell in its schema ${other.schema}, which a move would ` +
      'stop too. Move that cell away first, and drop the schema when its move is confirmed.',
  )
}

/** Tables that each server has for itself. */
const OWN_TABLES = ['migrations', 'cell_move']

/** In the order of their size, the smallest first. Partitions belong to their table. */
export async function listTables(session: Session): Promise<{ name: string; bytes: number }[]> {
  const rows = await session.rows<{ name: string; bytes: bigint }>(
    `select relname as name,
            (select coalesce(sum(pg_table_size(relid)), 0) from pg_partition_tree(c.oid)) as bytes
       from pg_class c
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname <> all($1)
      order by bytes, name`,
    [OWN_TABLES],
  )
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }))
}

/** A copy that is not in use is read-only for everyone but its subscription. */
export async function setReadOnly(session: Session, isOn: boolean): Promise<void> {
  if (session.schema !== null) {
    await session.run(
      isOn ? 'call refuse_writes(including_replication => false)' : 'call allow_writes()',
    )
    return
  }
  const [row] = await session.rows<{ name: string }>('select current_database() as name')
  const change = isOn
    ? 'set default_transaction_read_only = on'
    : 'reset default_transaction_read_only'
  await session.run(`alter database ${quoted(row?.name ?? '')} ${change}`)
}
