import { createHash } from 'node:crypto'
import { type Complaint, nameOf, type SourceFile } from './source.ts'

export const CHECKSUMS_PATH = 'migrations/checksums.json'

/** File name → sha256 of its text. A migration listed here has landed and is history. */
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

/** What to write into the list: the new ones are added, and a recorded one is never changed. */
export function checksumsWith(files: readonly SourceFile[]): Checksums {
  const all = new Map(migrationsIn(files).map(({ path, text }) => [nameOf(path), checksumOf(text)]))
  for (const [name, sum] of Object.entries(recordedIn(files))) all.set(name, sum)
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function numberComplaints(migrations: readonly SourceFile[]): Complaint[] {
  return migrations.flatMap(({ path }, index) => {
    const expected = String(index + 1).padStart(4, '0')
    const number = NUMBERED.exec(nameOf(path))?.[1]
    if (number === expected) return []
    const what = number === undefined ? 'has no number' : `is number ${number}, not ${expected}`
    return [{ path, line: 1, what, cure: `Name it ${expected}_<what_it_does>.sql` }]
  })
}

function checksumComplaint(
  { path, text }: SourceFile,
  recorded: string | undefined,
): Complaint | undefined {
  if (recorded === checksumOf(text)) return undefined
  if (recorded === undefined) {
    const cure = 'Run `npm run tidy -- --record` when it is ready to land'
    return { path, line: 1, what: 'is not recorded', cure }
  }
  const cure = 'Put it back as it was, and write the change as a new migration'
  return { path, line: 1, what: 'was edited after it landed', cure }
}

export function migrationComplaints(files: readonly SourceFile[]): Complaint[] {
  const migrations = migrationsIn(files)
  const recorded = recordedIn(files)
  const present = new Set(migrations.map(({ path }) => nameOf(path)))
  const gone = Object.keys(recorded).filter((name) => !present.has(name))
  return [
    ...numberComplaints(migrations),
    ...migrations.flatMap((file) => checksumComplaint(file, recorded[nameOf(file.path)]) ?? []),
    ...gone.map((name) => ({
      path: CHECKSUMS_PATH,
      line: 1,
      what: `${name} landed and is gone`,
      cure: 'Put the file back: databases have run it',
    })),
  ]
}
