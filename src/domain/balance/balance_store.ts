import { accountSumsSql, type BalanceSums } from '#domain/ledger/balances.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

export type BalanceRow = BalanceSums & { id: string; pending_in_micros: Micros; updated_at: Date }

/** The balances of many accounts in one statement. */
export async function findBalances(tx: Tx, account_ids: readonly string[]): Promise<BalanceRow[]> {
  return tx.rows<BalanceRow>(
    `select a.id, s.treasury_micros, s.cards_micros, s.payout_micros, s.owed_micros,
            (select coalesce(sum(t.pending_micros), 0)::bigint from topups t
              where t.account_id = a.id and t.status = 'confirming') as pending_in_micros,
            coalesce(s.moved_at, a.created_at) as updated_at
       from accounts a cross join lateral (${accountSumsSql('a.id')}) s
      where a.id = any($1)`,
    [account_ids],
  )
}
