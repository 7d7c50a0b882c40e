import type { Tx } from '#platform/postgres/db.ts'

/** The cards that these OAuth clients issued, with their replacements. */
export async function findCardsOfAgents(
  tx: Tx,
  account_id: string,
  client_ids: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    'select id from cards where account_id = $1 and client_id = any($2)',
    [account_id, client_ids],
  )
  return rows.map(({ id }) => id)
}
