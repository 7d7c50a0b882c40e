import { type BalanceSums, totalSums, transfersByDay } from '#domain/ledger/balances.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

type Range = { first: Date; end: Date }

export type DayRow = {
  day: string
  accounts_opened: number
  deposited_micros: Micros
  withdrawn_micros: Micros
  approved: number
  declined: number
  captured_micros: Micros
  refunded_micros: Micros
  disputes_opened: number
}

const DAY = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`

/** One row per day, including days without activity. */
export async function loadDays(tx: Tx, range: Range): Promise<DayRow[]> {
  const [counts, transfers] = await Promise.all([
    loadCountsByDay(tx, range),
    transfersByDay(tx, range),
  ])
  const transfers_by_day = new Map(transfers.map((row) => [row.day, row]))
  return counts.map((row) => ({ ...NO_TRANSFERS, ...row, ...transfers_by_day.get(row.day) }))
}

const NO_TRANSFERS = { deposited_micros: 0n, withdrawn_micros: 0n }

type CountRow = Omit<DayRow, keyof typeof NO_TRANSFERS>

function loadCountsByDay(tx: Tx, { first, end }: Range): Promise<CountRow[]> {
  const within = 'where created_at >= $1 and created_at < $2 group by 1'
  return tx.rows<CountRow>(
    `with days as (
       select to_char(d at time zone 'UTC', 'YYYY-MM-DD') as day
         from generate_series($1::timestamptz, $2::timestamptz - interval '1 day',
                              interval '1 day') d),
     opened as (select ${DAY} as day, count(*)::int as n from accounts ${within}),
     paid as (
       select ${DAY} as day, count(*) filter (where type = 'authorization')::int as approved,
              count(*) filter (where type = 'decline')::int as declined,
              sum(amount_micros) filter (where type = 'capture') as captured,
              sum(amount_micros) filter (where type = 'refund' and status = 'settled')
                as refunded
         from transactions ${within}),
     contested as (select ${DAY} as day, count(*)::int as n from disputes ${within})
     select day, coalesce(opened.n, 0) as accounts_opened,
            coalesce(approved, 0) as approved, coalesce(declined, 0) as declined,
            coalesce(captured, 0)::bigint as captured_micros,
            coalesce(refunded, 0)::bigint as refunded_micros,
            coalesce(contested.n, 0) as disputes_opened
       from days
       left join opened using (day) left join paid using (day) left join contested using (day)
      order by day`,
    [first, end],
  )
}

export type ReasonRow = { day: string; code: string; count: number }

export function loadDeclineReasons(tx: Tx, { first, end }: Range): Promise<ReasonRow[]> {
  return tx.rows<ReasonRow>(
    `select ${DAY} as day, decline_code as code, count(*)::int as count
       from transactions
      where created_at >= $1 and created_at < $2 and type = 'decline'
      group by 1, 2 order by 3 desc, 2`,
    [first, end],
  )
}

type Totals = { accounts: number; accounts_suspended: number; cards_active: number } & BalanceSums

export async function loadTotals(tx: Tx): Promise<Totals> {
  const [[counts], sums] = await Promise.all([
    tx.rows<Omit<Totals, keyof BalanceSums>>(
      `select a.*, c.*
         from (select count(*)::int as accounts,
                      count(*) filter (where status = 'suspended')::int as accounts_suspended
                 from accounts) a,
              (select count(*) filter (where status = 'active')::int as cards_active
                 from cards) c`,
    ),
    totalSums(tx),
  ])
  assert(counts !== undefined, 'an aggregate returns a row')
  return { ...counts, ...sums }
}
