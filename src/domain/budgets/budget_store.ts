import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Budget, Usage } from './budget.ts'

export type GrantKey = { account_id: string; grant_id: string }
export type ClientKey = { account_id: string; client_id: string }

const USAGE_COLUMNS = 'day::text, day_micros, month_micros, total_micros, total_from'

/**
 * Locks the usage of a client, and makes its row at the first use. Lock order: after the card,
 * before the purses.
 */
export async function lockUsage(tx: Tx, key: ClientKey, now: Date): Promise<Usage> {
  const locked = tx.run(
    `insert into budget_usage as u (account_id, client_id, day, total_from)
     values ($1, $2, ($3::timestamptz at time zone 'UTC')::date, $3)
         on conflict (account_id, client_id) do update set total_from = u.total_from`,
    [key.account_id, key.client_id, now],
  )
  // In the same round trip: Citus doesn't return a date as text from an insert.
  const [usage] = await Promise.all([findUsage(tx, key), locked])
  assert(usage !== undefined, 'a client has a usage row once it is locked')
  return usage
}

export async function findUsage(tx: Tx, key: ClientKey): Promise<Usage | undefined> {
  const [usage] = await tx.rows<Usage>(
    `select ${USAGE_COLUMNS} from budget_usage where account_id = $1 and client_id = $2`,
    [key.account_id, key.client_id],
  )
  return usage
}

export async function saveUsage(tx: Tx, key: ClientKey, usage: Usage): Promise<void> {
  await tx.run(
    `update budget_usage
        set day = $3, day_micros = $4, month_micros = $5, total_micros = $6, total_from = $7
      where account_id = $1 and client_id = $2`,
    [
      key.account_id,
      key.client_id,
      usage.day,
      usage.day_micros,
      usage.month_micros,
      usage.total_micros,
      usage.total_from,
    ],
  )
}

/** Read under the lock of the usage, which every change of a budget takes. */
export async function findBudget(tx: Tx, key: GrantKey): Promise<Budget | undefined> {
  const [budget] = await tx.rows<Budget>(
    `select amount_micros, period, ask_above_micros from budgets
      where account_id = $1 and grant_id = $2`,
    [key.account_id, key.grant_id],
  )
  return budget
}

export async function findBudgets(tx: Tx, account_id: string): Promise<(Budget & GrantKey)[]> {
  return tx.rows<Budget & GrantKey>(
    `select account_id, grant_id, amount_micros, period, ask_above_micros from budgets
      where account_id = $1`,
    [account_id],
  )
}

/** Budgets with the usage of their client; a new client has used nothing. */
export async function findUsedBudgets(
  tx: Tx,
  account_id: string,
  now: Date,
): Promise<(Budget & GrantKey & Usage)[]> {
  return tx.rows<Budget & GrantKey & Usage>(
    `select b.account_id, b.grant_id, amount_micros, period, ask_above_micros,
            coalesce(day, ($2::timestamptz at time zone 'UTC')::date)::text as day,
            coalesce(day_micros, 0) as day_micros, coalesce(month_micros, 0) as month_micros,
            coalesce(total_micros, 0) as total_micros, coalesce(total_from, $2) as total_from
       from budgets b
       join oauth_grants g on g.account_id = b.account_id and g.id = b.grant_id
       left join budget_usage u on u.account_id = b.account_id and u.client_id = g.client_id
      where b.account_id = $1`,
    [account_id, now],
  )
}

export async function saveBudget(
  tx: Tx,
  key: GrantKey,
  { budget, now }: { budget: Budget; now: Date },
): Promise<void> {
  await tx.run(
    `insert into budgets (account_id, grant_id, amount_micros, period, ask_above_micros,
                          created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $6)
         on conflict (account_id, grant_id) do update
        set amount_micros = $3, period = $4, ask_above_micros = $5, updated_at = $6`,
    [
      key.account_id,
      key.grant_id,
      budget.amount_micros,
      budget.period,
      budget.ask_above_micros,
      now,
    ],
  )
}

export async function deleteBudget(tx: Tx, { account_id, grant_id }: GrantKey): Promise<void> {
  await tx.run('delete from budgets where account_id = $1 and grant_id = $2', [
    account_id,
    grant_id,
  ])
}

export type ChargedAmounts = Pick<Usage, 'day_micros' | 'month_micros' | 'total_micros'>

/** The sum of a client's charges of one card, in each period of the usage. */
export async function sumChargesOfCard(
  tx: Tx,
  { account_id, client_id, card_id }: ClientKey & { card_id: string },
  { day, total_from }: Usage,
): Promise<ChargedAmounts> {
  const [sums] = await tx.rows<ChargedAmounts>(
    `select coalesce(sum(day_micros) filter (where day = $4::date), 0)::bigint as day_micros,
            coalesce(sum(month_micros) filter (
              where date_trunc('month', day) = date_trunc('month', $4::date)), 0)::bigint
              as month_micros,
            coalesce(sum(total_micros) filter (where created_at >= $5), 0)::bigint
              as total_micros
       from budget_charges
      where account_id = $1 and client_id = $2 and card_id = $3`,
    [account_id, client_id, card_id, day, total_from],
  )
  return sums ?? { day_micros: 0n, month_micros: 0n, total_micros: 0n }
}

export type ChargeRow = GrantKey &
  ClientKey &
  ChargedAmounts & {
    movement_id: string
    card_id: string | null
    approval_id: string | null
    day: string
    created_at: Date
  }

export async function insertCharge(tx: Tx, charge: ChargeRow): Promise<void> {
  await tx.run(
    `insert into budget_charges (account_id, movement_id, client_id, grant_id, card_id,
                                 approval_id, day, day_micros, month_micros, total_micros,
                                 created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      charge.account_id,
      charge.movement_id,
      charge.client_id,
      charge.grant_id,
      charge.card_id,
      charge.approval_id,
      charge.day,
      charge.day_micros,
      charge.month_micros,
      charge.total_micros,
      charge.created_at,
    ],
  )
}

export const sameAmounts = (micros: Micros): ChargedAmounts => ({
  day_micros: micros,
  month_micros: micros,
  total_micros: micros,
})
