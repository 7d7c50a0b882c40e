import type { Session } from '#platform/postgres/session.ts'
import { literal, quoted } from '#platform/postgres/whole_tables.ts'
import { listTables } from './servers.ts'

export type TableLists = { small: string[]; large: string[] }

/** The smallest tables up to this total, and the others. */
export async function splitBySize(source: Session, bytes_max: number): Promise<TableLists> {
  const lists: TableLists = { small: [], large: [] }
  let total = 0
  for (const { name, bytes } of await listTables(source)) {
    total += bytes
    lists[total <= bytes_max ? 'small' : 'large'].push(name)
  }
  return lists
}

/** A row is compared by its text, which depends on these. */
const TEXT_SETTINGS = [
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO, MDY'`,
  `set intervalstyle = 'postgres'`,
  `set bytea_output = 'hex'`,
  'set extra_float_digits = 1',
]

type TableSum = { name: string; rows: string; checksum: string }

async function sumTables(session: Session, names: readonly string[]): Promise<TableSum[]> {
  for (const setting of TEXT_SETTINGS) await session.run(setting)
  const sums = names.map(
    (name) => `select ${literal(name)} as name, count(*)::text as rows,
      coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text as checksum
      from ${quoted(name)} t`,
  )
  return sums.length === 0 ? [] : session.rows<TableSum>(sums.join('\nunion all\n'))
}

export type Comparison = { rows: number; differences: string[] }

/** Counts the rows of each table and adds up a hash of every row, on both servers. */
export async function compareTables(
  source: Session,
  target: Session,
  names: readonly string[],
): Promise<Comparison> {
  const [ours, theirs] = await Promise.all([sumTables(source, names), sumTables(target, names)])
  const copies = new Map(theirs.map((sum) => [sum.name, sum]))
  const differences = ours.flatMap(({ name, rows, checksum }) => {
    const copy = copies.get(name)
    if (copy?.rows === rows && copy.checksum === checksum) return []
    return [`${name}: ${rows} rows on the old server, ${copy?.rows} on the new one`]
  })
  return { rows: ours.reduce((sum, { rows }) => sum + Number(rows), 0), differences }
}
