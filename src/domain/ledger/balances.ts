import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { StoredKind } from './purse.ts'

/**
 * Other rooms read balances through this file: as a function, or as SQL for statements that need a
 * balance next to their own rows.
 */

/** Selects one purse. The arguments are SQL expressions of the surrounding statement. */
export function purseSql(kind: StoredKind, account_id: string, owner_id = "''"): string {
  return `select balance_micros, held_micros, holds_expire_at, moved_at, spent_day,
                 day_spent_micros, month_spent_micros
            from purses
           where account_id = ${account_id} and kind = '${kind}' and owner_id = ${owner_id}`
}

export type BalanceSums = {
  treasury_micros: Micros
  /** Balances and holds of all cards. */
  cards_micros: Micros
  payout_micros: Micros
  owed_micros: Micros
}

const SUMS = `
  coalesce(sum(balance_micros) filter (where kind = 'treasury'), 0)::bigint as treasury_micros,
  coalesce(sum(balance_micros + held_micros) filter (where kind = 'card'), 0)::bigint
    as cards_micros,
  coalesce(sum(balance_micros) filter (where kind = 'payout'), 0)::bigint as payout_micros,
  coalesce(-sum(balance_micros) filter (where kind = 'receivable'), 0)::bigint as owed_micros`

/** Selects the sums of one account and when any of its purses last changed. */
export const accountSumsSql = (account_id: string): string =>
  `select ${SUMS}, max(moved_at) as moved_at from purses where account_id = ${account_id}`

export async function accountSums(tx: Tx, account_id: string): Promise<BalanceSums> {
  const [row] = await tx.rows<BalanceSums>(`select ${SUMS} from purses where account_id = $1`, [
    account_id,
  ])
  return requireRow(row)
}

/** The sums over all accounts. */
export async function totalSums(tx: Tx): Promise<BalanceSums> {
  const [row] = await tx.rows<BalanceSums>(`select ${SUMS} from purses`)
  return requireRow(row)
}

function requireRow<Row>(row: Row | undefined): Row {
  assert(row !== undefined, 'an aggregate returns a row')
  return row
}

type DayTotals = { day: string; deposited_micros: Micros; withdrawn_micros: Micros }

/** Deposits and withdrawals by UTC day; days without any have no row. */
export function transfersByDay(
  tx: Tx,
  { first, end }: { first: Date; end: Date },
): Promise<DayTotals[]> {
  return tx.rows<DayTotals>(
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
            coalesce(sum(amount_micros) filter (
              where movement in ('topup_settled', 'suspense_released')), 0)::bigint
              as deposited_micros,
            coalesce(sum(amount_micros) filter (where movement = 'withdrawal_sent'), 0)::bigint
              as withdrawn_micros
       from movements
      where created_at >= $1 and created_at < $2
      group by 1`,
    [first, end],
  )
}
