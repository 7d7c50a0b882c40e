import pg from 'pg'
import { type Engine, makeEngine } from '#domain/authorizations/engine.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { type AccountPool, openAccountPool, openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'
import { node_env } from '#test/support/node_env.ts'

/** One database of the bench; the small and the large one are on the same server. */
export type Books = {
  url: string
  env: Record<string, string>
  dependencies: Dependencies
  engine: Engine
  clock: Clock
  account_pool: AccountPool
  close(): Promise<void>
}

/** A statement over all rows, without the service's time limits. */
export async function runPatiently<Row extends pg.QueryResultRow>(
  { url }: Pick<Books, 'url'>,
  text: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** Creates the database, unless an earlier run kept it. */
export async function openBooks(server_url: string, name: string, data_dir: string) {
  const server = openDatabase(server_url, { pool_size: 1 })
  const known = await server.rows('select from pg_database where datname = $1', [name])
  if (known.length === 0) await server.run(`create database ${name}`)
  await server.close()
  const url = server_url.replace(/\/[^/?]*(?=\?|$)/, `/${name}`)
  const db = openDatabase(url, { key_lookups: true })
  await migrate(db)
  const env = { ...node_env, FLORIN_DATA_DIR: data_dir, FLORIN_DATABASE_URL: url }
  const clock = systemClock()
  const dependencies = await makeDependencies(readSettings(env), db, { log: silentLog, clock })
  const engine = makeEngine(dependencies)
  const account_pool = openAccountPool(url)
  const books: Books = {
    url,
    env,
    dependencies,
    engine,
    clock,
    account_pool,
    close: async () => {
      await engine.drain()
      await account_pool.close()
      await db.close()
    },
  }
  return books
}
