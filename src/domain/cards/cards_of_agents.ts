import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, isIn } from '#platform/postgres/page.ts'

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

/** Matches rows of the cards that agents issued; no condition if the filter is absent. */
export async function ofAgentCards(
  tx: Tx,
  account_id: string,
  agents: string | undefined,
): Promise<Condition[]> {
  if (agents === undefined) return []
  return [isIn('card_id', await findCardsOfAgents(tx, account_id, agents.split(',')))]
}
