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
  /** Of earlier texts that left the same schema. A database may have applied one of them. */
  former_checksums: string[]
  /** Nodes of an older version would fail or write wrong data on the new schema. */
  is_incompatible: boolean
  /** The oldest version that an incompatible migration is compatible with, if there is one. */
  allows: string | null
}

/** A line of the comment at the top of the file, with the reason. */
const INCOMPATIBLE = /^(?:--.*\n)*-- incompatible: \S/

/** In the same comment. */
const ALLOWS = /^(?:--.*\n)*-- allows: >= (\d+\.\d+\.\d+)\n/

/** The checksum of an earlier text, in the same comment. */
const FORMERLY = /^-- formerly: ([0-9a-f]{64})$/gm

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()

export function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    namesIn(folder).map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      const former_checksums = [...sql.matchAll(FORMERLY)].map(([, sum = '']) => sum)
      const is_incompatible = INCOMPATIBLE.test(sql)
      const allows = ALLOWS.exec(sql)?.[1] ?? null
      return { name, sql, checksum, former_checksums, is_incompatible, allows }
    }),
  )
}

const COMMANDS = 'alter|call|create|delete|do|drop|grant|insert|revoke|select|update|with'

/** Lines of a body are indented, or begin with `begin`, `declare`, `end` or `$$`. */
const NEXT_STATEMENT = new RegExp(`(?<=;)\\s*\\n(?=(?:\\s*--.*\\n|\\s*\\n)*(?:${COMMANDS})\\b)`)

/** Citus does not accept several statements in one text. */
export const statementsOf = (sql: string): string[] => sql.split(NEXT_STATEMENT)

export const migrationNumber = (name: string): number => Number.parseInt(name, 10)

/** True if an incompatible migration names this version of Florin, or an older one. */
export function isAllowed(version: string, allows: string | null): boolean {
  if (allows === null) return false
  const [ours, oldest] = [partsOf(version), partsOf(allows)]
  const at = ours.findIndex((part, index) => part !== oldest[index])
  return at === -1 || (ours[at] ?? 0) > (oldest[at] ?? 0)
}

const partsOf = (version: string): number[] =>
  version.split('.', 3).map((part) => Number.parseInt(part, 10))

/** The newest migration that this version knows. */
export const known_schema = migrationNumber(namesIn(MIGRATIONS_DIR).at(-1) ?? '0')
