import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type pg from 'pg'
import manifest from '#package.json' with { type: 'json' }
import { isAllowed, known_schema, type Migration, migrationNumber } from './migration_files.ts'

// PostgreSQL cuts a name after 63 bytes, and the process comes last.
const HOST_MAX = 20
const HOST_MAX_TAGGED = 12
const TAG_LENGTH = 8

/** In the names of connections to a cell that is a schema: "in" and a hash of the schema's name. */
export const tagOf = (schema: string): string =>
  ` in=${createHash('md5').update(schema).digest('hex').slice(0, TAG_LENGTH)} `

/**
 * The name of our connections in pg_stat_activity: version, newest known migration, schema and
 * process.
 */
export function applicationName(schema: string | null): string {
  const host = hostname().slice(0, schema === null ? HOST_MAX : HOST_MAX_TAGGED)
  const tag = schema === null ? ' ' : tagOf(schema)
  return `florin/${manifest.version} schema=${known_schema}${tag}${host}:${process.pid}`
}

const NAME = /^florin\/(\S+) schema=(\d+)(?: in=\w+)? (\S+):(\d+)$/

/**
 * Connected processes, except this connection, whose version does not know a migration and is not
 * one that it allows.
 */
export async function findOlderNodes(
  client: pg.ClientBase,
  { name, allows }: Pick<Migration, 'name' | 'allows'>,
): Promise<string[]> {
  const { rows } = await client.query<{ application_name: string }>(
    `select distinct application_name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name like 'florin/%'
      order by 1`,
  )
  return rows.flatMap(({ application_name }) => {
    const [, version, known, host, pid] = NAME.exec(application_name) ?? []
    if (Number(known ?? 0) >= migrationNumber(name)) return []
    if (version !== undefined && isAllowed(version, allows)) return []
    return version === undefined ? [application_name] : [`${version} on ${host} (process ${pid})`]
  })
}
