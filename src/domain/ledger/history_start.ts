import type { Tx } from '#platform/postgres/db.ts'

/**
 * The start of the stored history of money: earlier movements and transactions are in an archive.
 */
export async function findHistoryStart(tx: Tx): Promise<Date | null> {
  const [row] = await tx.rows<{ since: Date }>(
    `select since from history_floors where history = 'money' and floor <> ''`,
  )
  return row?.since ?? null
}
