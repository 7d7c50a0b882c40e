import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import pg from 'pg'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { eventually } from './eventually.ts'

export type LogicalPostgres = {
  url: string
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
}

/** A database server of its own, from which a cell can be moved. */
export async function startLogicalPostgres(): Promise<LogicalPostgres> {
  const server = await startPlainPostgres()
  await server.query('alter system set wal_level = logical')
  await server.restart()
  return server
}

/** A database server of its own, as it is after its installation. */
export async function startPlainPostgres() {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_move_'))
  const { url, stop } = await startEmbeddedPostgres({ data_dir })
  after(async () => {
    await stop()
    await rm(data_dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const query = (sql: string, values: unknown[] = []) => queryOn(url, sql, values)
  const startedAt = async () =>
    String((await query('select pg_postmaster_start_time()::text as at'))[0]?.['at'])
  return {
    url,
    query,
    /** Its keeper starts it again. */
    restart: async () => {
      const before = await startedAt()
      const file = join(data_dir, 'postgres', 'postmaster.pid')
      process.kill(Number.parseInt(await readFile(file, 'utf8'), 10), 'SIGINT')
      const isBack = () =>
        startedAt().then(
          (at) => at !== before,
          () => false,
        )
      if (!(await eventually(isBack, { within_ms: 60_000 }))) throw new Error('no server in time')
    },
  }
}

export async function queryOn(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql, values)).rows
  } finally {
    await client.end()
  }
}
