import type { SpendingGroup } from '#contract/spending.ts'
import { idFloor } from '#kernel/id.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** The value that rows are grouped by, and the format of its name if it is none itself. */
type GroupKey = { value: string; format?: string }

const KEYS: Readonly<Record<SpendingGroup, GroupKey>> = {
  day: { value: `(created_at at time zone 'UTC')::date`, format: 'YYYY-MM-DD' },
  week: { value: `date_trunc('week', created_at at time zone 'UTC')`, format: 'YYYY-MM-DD' },
  month: { value: `date_trunc('month', created_at at time zone 'UTC')`, format: 'YYYY-MM' },
  category: { value: 'mcc' },
  merchant: { value: 'merchant_name' },
  country: { value: `coalesce(merchant_country, 'unknown')` },
  card: { value: 'card_id' },
}

export type SpendingQuery = {
  account_id: string
  group_by: SpendingGroup
  first: Date
  end: Date
  /** Null: all cards. */
  card_ids: readonly string[] | null
}

export type SpendingSum = {
  key: string
  purchases: number
  spent_micros: Micros
  refunded_micros: Micros
  declined: number
}

/**
 * Sums by group, read as one range of the primary key or of the index by card. A name is formatted
 * once per group: once per row, a report by day took 30 % longer.
 */
export function findSpending(tx: Tx, query: SpendingQuery): Promise<SpendingSum[]> {
  const { account_id, group_by, first, end, card_ids } = query
  const { value, format } = KEYS[group_by]
  const name = format === undefined ? 'key' : `to_char(key, '${format}')`
  return tx.rows<SpendingSum>(
    `select ${name} as key, purchases, spent_micros, refunded_micros, declined
       from (
         select ${value} as key,
                (count(distinct coalesce(authorization_id, id)) filter (where type = 'capture'))
                  ::int as purchases,
                coalesce(sum(amount_micros) filter (where type = 'capture'), 0)::bigint
                  as spent_micros,
                coalesce(sum(amount_micros)
                  filter (where type = 'refund' and status = 'settled'), 0)::bigint
                  as refunded_micros,
                (count(*) filter (where type = 'decline'))::int as declined
           from transactions
          where account_id = $1 and id >= $2 and id < $3 and type <> 'authorization'
            ${card_ids === null ? '' : 'and card_id = any($4)'}
          group by 1
       ) sums`,
    [
      account_id,
      idFloor('txn', first.getTime()),
      idFloor('txn', end.getTime()),
      ...(card_ids === null ? [] : [card_ids]),
    ],
  )
}

export type CardLabel = { id: string; name: string | null; brand: string; last4: string }

export function findCardLabels(
  tx: Tx,
  account_id: string,
  ids: readonly string[],
): Promise<CardLabel[]> {
  return tx.rows<CardLabel>(
    'select id, name, brand, last4 from cards where account_id = $1 and id = any($2)',
    [account_id, ids],
  )
}
