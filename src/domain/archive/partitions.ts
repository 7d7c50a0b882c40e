import type { Database, Tx } from '#platform/postgres/db.ts'

/** The tables with a partition per month. */
export const PARTITIONED_TABLES = ['events', 'movements', 'transactions'] as const

type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

/** Adds the partitions of this month and the next. Null if the table was busy. */
export async function addPartitions(
  tx: Tx,
  table: PartitionedTable,
  now: Date,
): Promise<number | null> {
  const [row] = await tx.rows<{ added: number | null }>('select add_partitions($1, $2) as added', [
    table,
    now,
  ])
  return row?.added ?? null
}

/** The numbers of all deleted events are read first, which may take minutes. */
const RETIRE_MS = 30 * 60_000

/** Deletes the months of events before a time, and returns how many. Null if they were busy. */
export async function retireEvents(db: Database, before: Date): Promise<number | null> {
  return db.connection(async (client) => {
    await client.query('begin')
    try {
      await client.query(`set local statement_timeout = ${RETIRE_MS}`)
      const { rows } = await client.query<{ retired: number | null }>(
        'select retire_events($1) as retired',
        [before],
      )
      await client.query('commit')
      return rows[0]?.retired ?? null
    } catch (cause) {
      await client.query('rollback')
      throw cause
    }
  })
}
