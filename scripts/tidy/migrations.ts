import { createHash } from 'node:crypto'
import { nameOf, type SourceFile, type Violation } from './source.ts'

export const CHECKSUMS_PATH = 'migrations/checksums.json'

/** File name → sha256 of its text. A migration listed here has landed and must not change. */
type Checksums = Readonly<Record<string, string>>

const MIGRATION = /^migrations\/[^/]+\.sql$/
const NUMBERED = /^(\d{4})_[a-z0-9_]+\.sql$/

export const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function migrationsIn(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => MIGRATION.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1))
}

function recordedIn(files: readonly SourceFile[]): Checksums {
  const text = files.find(({ path }) => path === CHECKSUMS_PATH)?.text ?? '{}'
  const recorded: unknown = JSON.parse(text)
  const entries = typeof recorded === 'object' && recorded !== null ? Object.entries(recorded) : []
  return Object.fromEntries(entries.map(([name, sum]) => [name, String(sum)]))
}

/** The list with new migrations added; recorded checksums are never changed. */
export function checksumsWith(files: readonly SourceFile[]): Checksums {
  const all = new Map(migrationsIn(files).map(({ path, text }) => [nameOf(path), checksumOf(text)]))
  for (const [name, sum] of Object.entries(recordedIn(files))) all.set(name, sum)
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function numberViolations(migrations: readonly SourceFile[]): Violation[] {
  return migrations.flatMap(({ path }, index) => {
    const expected = String(index + 1).padStart(4, '0')
    const number = NUMBERED.exec(nameOf(path))?.[1]
    if (number === expected) return []
    const problem = number === undefined ? 'has no number' : `is number ${number}, not ${expected}`
    return [{ path, line: 1, problem, fix: `Name it ${expected}_<what_it_does>.sql` }]
  })
}

function checksumViolation(
  { path, text }: SourceFile,
  recorded: string | undefined,
): Violation | undefined {
  if (recorded === checksumOf(text)) return undefined
  if (recorded === undefined) {
    const fix = 'Run `npm run tidy -- --record` when it is ready to land'
    return { path, line: 1, problem: 'is not recorded', fix }
  }
  const fix = 'Restore it, and write the change as a new migration'
  return { path, line: 1, problem: 'was edited after it landed', fix }
}

export function migrationViolations(files: readonly SourceFile[]): Violation[] {
  const migrations = migrationsIn(files)
  const recorded = recordedIn(files)
  const present = new Set(migrations.map(({ path }) => nameOf(path)))
  const gone = Object.keys(recorded).filter((name) => !present.has(name))
  return [
    ...numberViolations(migrations),
    ...migrations.flatMap((file) => checksumViolation(file, recorded[nameOf(file.path)]) ?? []),
    ...gone.map((name) => ({
      path: CHECKSUMS_PATH,
      line: 1,
      problem: `${name} has landed but is missing`,
      fix: 'Restore the file: databases have applied it',
    })),
  ]
}
