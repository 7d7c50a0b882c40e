import { accountSumsSql } from '#domain/ledger/balances.ts'
import { cardTransfersSql, crossingMovementsSql } from '#domain/ledger/movement_sql.ts'
import type { MovementName } from '#domain/ledger/movements.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Period } from './period.ts'

export async function findAccountStart(tx: Tx, account_id: string): Promise<Date | null> {
  const [row] = await tx.rows<{ created_at: Date }>(
    'select created_at from accounts where id = $1',
    [account_id],
  )
  return row?.created_at ?? null
}

export type PeriodSum = {
  period: string
  /** Treasury and cards now. The same in every row. */
  total_micros: Micros
  /** Null for a month without movements. */
  movement: MovementName | null
  amount_micros: Micros
  fee_micros: Micros
}

const IS_IN_PERIOD = 'id >= p.first_id and id < p.end_id'

/**
 * The sums of each month by movement, and the account's total of the same snapshot. Sums are read
 * from the index alone; only withdrawals are looked up, for their fees.
 */
export function findPeriodSums(
  tx: Tx,
  account_id: string,
  periods: readonly Period[],
): Promise<PeriodSum[]> {
  return tx.rows<PeriodSum>(
    `select p.period, s.treasury_micros + s.cards_micros as total_micros, m.movement,
            coalesce(m.amount_micros, 0) as amount_micros, coalesce(f.fee_micros, 0) as fee_micros
       from (${accountSumsSql('$1')}) s
      cross join unnest($2::text[], $3::text[], $4::text[]) as p (period, first_id, end_id)
       left join lateral (
              select movement, sum(amount_micros)::bigint as amount_micros
                from (${crossingMovementsSql('$1', IS_IN_PERIOD)}) x
               group by movement) m on true
       left join lateral (
              select sum(w.fee_micros)::bigint as fee_micros
                from (${crossingMovementsSql('$1', IS_IN_PERIOD)}) x
                join withdrawals w on w.account_id = x.account_id and w.id = x.reference_id
               where x.movement = m.movement) f
         on m.movement in ('withdrawal_reserved', 'withdrawal_returned')`,
    [
      account_id,
      periods.map(({ key }) => key),
      periods.map(({ first_id }) => first_id),
      periods.map(({ end_id }) => end_id),
    ],
  )
}

export type AgentSum = {
  /** Null: the owner. */
  client_id: string | null
  movement: MovementName
  amount_micros: Micros
  fee_micros: Micros
}

/** The card of a movement: of its transaction or dispute, or the purse that it touches. */
const CARD_OF_MOVEMENT = `coalesce(
  x.card_id, d.card_id, nullif(m.from_owner_id, ''), nullif(m.to_owner_id, ''))`

/**
 * The sums of a month by agent and movement: deposits and withdrawals by who requested them,
 * everything on a card by who issued it. Debts paid by the balance are the owner's.
 */
export function findAgentSums(
  tx: Tx,
  account_id: string,
  { first_id, end_id }: Period,
): Promise<AgentSum[]> {
  return tx.rows<AgentSum>(
    `select coalesce(w.client_id, t.client_id, c.client_id) as client_id, m.movement,
            sum(m.amount_micros)::bigint as amount_micros,
            coalesce(sum(w.fee_micros), 0)::bigint as fee_micros
       from (${crossingMovementsSql('$1', 'id >= $2 and id < $3')}) m
       left join withdrawals w
         on m.movement in ('withdrawal_reserved', 'withdrawal_returned')
        and w.account_id = m.account_id and w.id = m.reference_id
       left join topups t
         on m.movement in ('topup_settled', 'suspense_released')
        and t.account_id = m.account_id and t.id = m.reference_id
       left join transactions x
         on m.reference_type = 'transaction' and m.movement <> 'debt_paid_by_treasury'
        and x.account_id = m.account_id and x.id = m.reference_id
       left join disputes d
         on m.reference_type = 'dispute' and m.movement <> 'debt_paid_by_treasury'
        and d.account_id = m.account_id and d.id = m.reference_id
       left join cards c on c.account_id = m.account_id and c.id = ${CARD_OF_MOVEMENT}
      group by 1, 2`,
    [account_id, first_id, end_id],
  )
}

export type AgentLoads = {
  client_id: string | null
  loaded_micros: Micros
  unloaded_micros: Micros
}

/** Loads stay inside the account, so a statement shows them beside its sums. */
export function findAgentLoads(
  tx: Tx,
  account_id: string,
  { first_id, end_id }: Period,
): Promise<AgentLoads[]> {
  return tx.rows<AgentLoads>(
    `select b.client_id,
            coalesce(sum(m.amount_micros) filter (where m.movement = 'card_loaded'), 0)::bigint
              as loaded_micros,
            coalesce(sum(m.amount_micros) filter (where m.movement = 'card_unloaded'), 0)::bigint
              as unloaded_micros
       from (${cardTransfersSql('$1', 'id >= $2 and id < $3')}) m
       left join budget_charges b on b.account_id = m.account_id and b.movement_id = m.id
      group by b.client_id`,
    [account_id, first_id, end_id],
  )
}

export type StatementMovement = {
  id: string
  movement: MovementName
  amount_micros: Micros
  fee_micros: Micros
  description: string
  card_last4: string | null
  reference_id: string
  created_at: Date
}

type LineRange = { account_id: string; after: string; end_id: string; limit: number }

/** Movements of a month in order of time, after an ID. */
export function findStatementMovements(
  tx: Tx,
  { account_id, after, end_id, limit }: LineRange,
): Promise<StatementMovement[]> {
  return tx.rows<StatementMovement>(
    `select m.id, m.movement, m.amount_micros, coalesce(w.fee_micros, 0) as fee_micros,
            m.description, c.last4 as card_last4, m.reference_id, m.created_at
       from (${crossingMovementsSql('$1', 'id > $2 and id < $3')}
              order by id limit $4) m
       left join withdrawals w
         on m.movement in ('withdrawal_reserved', 'withdrawal_returned')
        and w.account_id = m.account_id and w.id = m.reference_id
       left join cards c
         on c.account_id = m.account_id
        and c.id = coalesce(nullif(m.from_owner_id, ''), m.to_owner_id)
      order by m.id`,
    [account_id, after, end_id, limit],
  )
}
