import type { Tx } from '#platform/postgres/db.ts'

/** The number of rows per table, which a refused call must not change. */
export async function rowCounts(db: Tx): Promise<Record<string, bigint>> {
  const tables = await db.rows<{ name: string }>(
    `select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition
        and relnamespace = current_schema()::regnamespace
      order by 1`,
  )
  const counted = tables.map(
    ({ name }) => `select '${name}' as name, count(*) as rows from ${name}`,
  )
  const rows = await db.rows<{ name: string; rows: bigint }>(counted.join(' union all '))
  return Object.fromEntries(rows.map((row) => [row.name, row.rows]))
}
