import type { Tx } from '#platform/postgres/db.ts'

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
