import { migrate } from '#platform/postgres/migrate.ts'
import { withDatabase } from './with_database.ts'

export async function runMigrations(): Promise<void> {
  const applied = await withDatabase(migrate)
  const sentence =
    applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`
  process.stdout.write(`${sentence}\n`)
}
