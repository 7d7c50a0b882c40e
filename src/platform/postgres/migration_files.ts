import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'

export const MIGRATIONS_DIR = join(root, 'migrations')

export type Migration = {
  name: string
  sql: string
  checksum: string
  /** Nodes of an older version would fail or write wrong data on the new schema. */
  is_incompatible: boolean
}

/** A line of the comment at the top of the file, with the reason. */
const INCOMPATIBLE = /^(?:--.*\n)*-- incompatible: \S/

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()

export function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    namesIn(folder).map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { name, sql, checksum, is_incompatible: INCOMPATIBLE.test(sql) }
    }),
  )
}

export const migrationNumber = (name: string): number => Number.parseInt(name, 10)

/** The newest migration that this version knows. */
export const known_schema = migrationNumber(namesIn(MIGRATIONS_DIR).at(-1) ?? '0')
