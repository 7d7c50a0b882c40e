import { hostname } from 'node:os'
import type pg from 'pg'
import manifest from '#package.json' with { type: 'json' }
import { known_schema } from './migration_files.ts'

// PostgreSQL cuts a name after 63 bytes, and the process comes last.
const HOST_MAX = 20

/** The name of our connections in pg_stat_activity: version, newest known migration and process. */
export const APPLICATION_NAME =
  `florin/${manifest.version} schema=${known_schema} ` +
  `${hostname().slice(0, HOST_MAX)}:${process.pid}`

const NAME = /^florin\/(\S+) schema=(\d+) (\S+):(\d+)$/

/** Connected processes, except this connection, whose version does not know a migration. */
export async function findOlderNodes(client: pg.ClientBase, schema: number): Promise<string[]> {
  const { rows } = await client.query<{ application_name: string }>(
    `select distinct application_name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name like 'florin/%'
      order by 1`,
  )
  return rows.flatMap(({ application_name }) => {
    const [, version, known, host, pid] = NAME.exec(application_name) ?? []
    if (Number(known ?? 0) >= schema) return []
    return version === undefined ? [application_name] : [`${version} on ${host} (process ${pid})`]
  })
}
