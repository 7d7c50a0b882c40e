import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { runningPostgresUrl } from '#platform/embedded_postgres/running.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { readSettings } from '#settings/settings.ts'

/** Opens the configured database, or the embedded one, started here unless the service runs it. */
export async function withDatabase<Value>(work: (db: Database) => Promise<Value>): Promise<Value> {
  const { database_url, data_dir } = readSettings(process.env)
  const running = database_url?.open() ?? (await runningPostgresUrl(data_dir))
  const embedded = running === null ? await startEmbeddedPostgres({ data_dir }) : null
  const db = openDatabase(running ?? embedded?.url ?? '')
  try {
    return await work(db)
  } finally {
    await db.close()
    await embedded?.stop()
  }
}
