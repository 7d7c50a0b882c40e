import type { Tx } from '#platform/db.ts'

/** A card as its owner recognises it, for choosing which ones an agent may use. */
export type CardChoice = { id: string; last4: string; brand: string; name: string | null }

export async function cardChoicesOf(tx: Tx, account_id: string): Promise<CardChoice[]> {
  return tx.rows<CardChoice>(
    `select id, last4, brand, name from cards
      where account_id = $1 and status <> 'cancelled' order by id desc limit 200`,
    [account_id],
  )
}
