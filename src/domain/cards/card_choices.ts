import { purseSql } from '#domain/ledger/balances.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** A card on the consent page, where the owner chooses which cards an agent may use. */
export type CardChoice = {
  id: string
  last4: string
  brand: string
  name: string | null
  status: 'active' | 'frozen'
  balance_micros: Micros
  per_transaction_micros: Micros | null
  daily_micros: Micros | null
  monthly_micros: Micros | null
}

/** The newest cards that are not canceled; with IDs, only those, however old they are. */
export async function findCardChoices(
  tx: Tx,
  account_id: string,
  card_ids: readonly string[] | null,
): Promise<CardChoice[]> {
  return tx.rows<CardChoice>(
    `select c.id, c.last4, c.brand, c.name, c.status, c.per_transaction_micros, c.daily_micros,
            c.monthly_micros, coalesce(p.balance_micros, 0) as balance_micros
       from cards c
       left join lateral (${purseSql('card', 'c.account_id', 'c.id')}) p on true
      where c.account_id = $1 and c.status <> 'cancelled'
        and ($2::text[] is null or c.id = any($2))
      order by c.id desc limit 200`,
    [account_id, card_ids],
  )
}
