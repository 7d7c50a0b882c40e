import { migrate } from '#platform/postgres/migrate.ts'
import { withEachCell } from './with_database.ts'

export async function runMigrations(): Promise<void> {
  const migrated = await withEachCell((db) => migrate(db))
  for (const { cell, value: applied } of migrated) {
    const where = migrated.length === 1 ? '' : `Cell ${cell}: `
    const sentence =
      applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`
    process.stdout.write(`${where}${sentence}\n`)
  }
}
