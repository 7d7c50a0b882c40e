import type { Tx } from '#platform/postgres/db.ts'

/** When the history of money begins: earlier movements and transactions are in an archive. */
export async function findHistoryStart(tx: Tx): Promise<Date | null> {
  const [row] = await tx.rows<{ since: Date }>(
    `select since from history_floors where history = 'money' and floor <> ''`,
  )
  return row?.since ?? null
}
