import { readSettings } from '#platform/config.ts'
import { type Database, openDatabase } from '#platform/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres.ts'

/** For commands that look at the books: the configured database, or the embedded one while idle. */
export async function withDatabase<Value>(work: (db: Database) => Promise<Value>): Promise<Value> {
  const settings = readSettings(process.env)
  const embedded =
    settings.database_url === null
      ? await startEmbeddedPostgres({ data_dir: settings.data_dir })
      : null
  const db = openDatabase(settings.database_url?.open() ?? embedded?.url ?? '')
  try {
    return await work(db)
  } finally {
    await db.close()
    await embedded?.stop()
  }
}
