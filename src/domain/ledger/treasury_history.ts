import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { MovementName } from './movements.ts'

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

export function readBalancePage(
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
    // Written as in the index: with a parameter here, PostgreSQL would not use the index.
    where: [...where, [`(from_kind = 'treasury' or to_kind = 'treasury')`]],
    input,
  })
}
