import type { MovementName } from '#domain/ledger/movements.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'

export type BalanceRow = {
  id: string
  treasury_micros: Micros
  cards_micros: Micros
  payout_micros: Micros
  owed_micros: Micros
  pending_in_micros: Micros
  updated_at: Date
}

/** The balances of many accounts in one statement. */
export async function findBalances(tx: Tx, account_ids: readonly string[]): Promise<BalanceRow[]> {
  return tx.rows<BalanceRow>(
    `select a.id,
            coalesce(sum(p.balance_micros) filter (where kind = 'treasury'), 0)::bigint
              as treasury_micros,
            coalesce(sum(p.balance_micros + p.held_micros) filter (where kind = 'card'), 0)::bigint
              as cards_micros,
            coalesce(sum(p.balance_micros) filter (where kind = 'payout'), 0)::bigint
              as payout_micros,
            coalesce(-sum(p.balance_micros) filter (where kind = 'receivable'), 0)::bigint
              as owed_micros,
            (select coalesce(sum(t.pending_micros), 0)::bigint from topups t
              where t.account_id = a.id and t.status = 'confirming') as pending_in_micros,
            coalesce(max(p.moved_at), a.created_at) as updated_at
       from accounts a left join purses p on p.account_id = a.id
      where a.id = any($1)
      group by a.id`,
    [account_ids],
  )
}

export type BalancePointRow = {
  id: string
  movement: MovementName
  from_kind: string
  amount_micros: Micros
  balance_micros: Micros
  reference_type: string
  reference_id: string
  description: string
  created_at: Date
}

export function pageOfBalancePoints(
  tx: Tx,
  input: PageInput,
  where: readonly Condition[],
): Promise<PageOf<BalancePointRow>> {
  return readPage(tx, {
    operation: 'get_balance_history',
    prefix: 'bal',
    select: `select id, movement, from_kind, amount_micros, reference_type, reference_id,
                    description, created_at,
                    case from_kind when 'treasury' then from_balance_micros
                                   else to_balance_micros end as balance_micros
               from movements`,
    // As the index says it, word for word: a parameter here would hide the index.
    where: [...where, [`(from_kind = 'treasury' or to_kind = 'treasury')`]],
    input,
  })
}
