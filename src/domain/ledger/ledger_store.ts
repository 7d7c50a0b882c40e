import type { Micros } from '#kernel/money.ts'
import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { rowSet } from '#platform/postgres/row_set.ts'
import { rowUpdate } from '#platform/postgres/row_update.ts'
import type { Write } from '#platform/postgres/write.ts'
import type { MovementName } from './movements.ts'
import { type Purse, type PurseKind, type StoredKind, storedKind } from './purse.ts'

export type PurseRow = {
  account_id: string
  kind: StoredKind
  owner_id: string
  balance_micros: Micros
  /** A card's holds, not included in the balance. */
  held_micros: Micros
  /** The balance as it was read, before this posting. */
  read_micros: Micros
  moved_at: Date | null
  is_changed: boolean
  /** No open authorization of the card expires earlier; null if there is none. */
  holds_expire_at: Date | null
} & SpentAmounts

/** A card's last day of spending and the amounts of that day and its month. */
export type SpentAmounts = {
  spent_day: string | null
  day_spent_micros: Micros
  month_spent_micros: Micros
}

export type MovementRow = {
  account_id: string
  id: string
  movement: MovementName
  from_kind: PurseKind
  from_owner_id: string
  from_balance_micros: Micros | null
  to_kind: PurseKind
  to_owner_id: string
  to_balance_micros: Micros | null
  amount_micros: Micros
  reference_type: string
  reference_id: string
  description: string
  created_at: Date
}

export type OwnedPurse = Purse & { account_id: string }

/**
 * Locks purses in key order: account, kind, owner. An unused purse has no row yet; all missing rows
 * are then created, in the same order, before any is locked. A transaction that waits for another's
 * new row must not hold a lock that the other needs.
 */
export async function lockPurses(tx: Tx, purses: readonly OwnedPurse[]): Promise<PurseRow[]> {
  const distinct = new Map(purses.map((purse) => [rowKey(purse), purse]))
  const keys = [...distinct.values()]
  const columns = [
    texts(keys, (purse) => purse.account_id),
    texts(keys, (purse) => storedKind(purse.kind)),
    texts(keys, (purse) => purse.owner_id),
  ]
  if (keys.length === 0) return []
  const rows = await lockRows(tx, columns)
  if (rows.length === keys.length) return rows
  const sorted = [...distinct].sort(([a], [b]) => (a < b ? -1 : 1))
  await Promise.all(sorted.map(([, purse]) => createPurse(tx, purse)))
  return lockRows(tx, columns)
}

/** One row: Citus has no generic plan, which the engine uses, for the rows of an array. */
async function createPurse(tx: Tx, { account_id, kind, owner_id }: OwnedPurse): Promise<void> {
  await tx.run(
    `insert into purses (account_id, kind, owner_id) values ($1, $2, $3) on conflict do nothing`,
    [account_id, storedKind(kind), owner_id],
  )
}

const rowKey = ({ account_id, kind, owner_id }: OwnedPurse): string =>
  `${account_id}|${storedKind(kind)}|${owner_id}`

function lockRows(tx: Tx, columns: readonly Buffer[]): Promise<PurseRow[]> {
  return tx.rows<PurseRow>(
    `select p.account_id, p.kind, p.owner_id, p.balance_micros, p.balance_micros as read_micros,
            false as is_changed, held_micros, holds_expire_at, spent_day::text, day_spent_micros,
            month_spent_micros,
            case p.kind when 'treasury' then p.moved_at end as moved_at
       from purses p
       join unnest($1::text[], $2::text[], $3::text[]) as w (account_id, kind, owner_id)
      using (account_id, kind, owner_id)
      where (select count(*)
               from purses e
               join unnest($1::text[], $2::text[], $3::text[]) as a (account_id, kind, owner_id)
              using (account_id, kind, owner_id)) = cardinality($1::text[])
      order by p.account_id, p.kind, p.owner_id
        for update of p`,
    columns,
  )
}

/** Writes balances and movements. Every purse must exist and be unchanged since it was read. */
export function postingWrites(
  rows: readonly MovementRow[],
  purses: readonly PurseRow[],
): readonly Write[] {
  return [
    ...(purses.length > 0 ? [writePurses(purses)] : []),
    ...(rows.length > 0 ? [addMovements(rows)] : []),
  ]
}

/** A purse without a movement keeps the time of its last one. */
const writePurses = rowUpdate<PurseRow>('purses', {
  key: {
    account_id: ['text', (purse) => purse.account_id],
    kind: ['text', (purse) => purse.kind],
    owner_id: ['text', (purse) => purse.owner_id],
  },
  read: { balance_micros: ['bigint', (purse) => purse.read_micros] },
  set: {
    balance_micros: ['bigint', (purse) => purse.balance_micros],
    held_micros: ['bigint', (purse) => purse.held_micros],
    moved_at: ['timestamptz', (purse) => purse.moved_at, (at) => `coalesce(${at}, t.moved_at)`],
    holds_expire_at: ['timestamptz', (purse) => purse.holds_expire_at],
    spent_day: ['date', (purse) => purse.spent_day],
    day_spent_micros: ['bigint', (purse) => purse.day_spent_micros],
    month_spent_micros: ['bigint', (purse) => purse.month_spent_micros],
  },
})

const addMovements = rowSet<MovementRow>('movements', {
  account_id: ['text', (row) => row.account_id],
  id: ['text', (row) => row.id],
  movement: ['text', (row) => row.movement],
  from_kind: ['text', (row) => row.from_kind],
  from_owner_id: ['text', (row) => row.from_owner_id],
  from_balance_micros: ['bigint', (row) => row.from_balance_micros],
  to_kind: ['text', (row) => row.to_kind],
  to_owner_id: ['text', (row) => row.to_owner_id],
  to_balance_micros: ['bigint', (row) => row.to_balance_micros],
  amount_micros: ['bigint', (row) => row.amount_micros],
  reference_type: ['text', (row) => row.reference_type],
  reference_id: ['text', (row) => row.reference_id],
  description: ['text', (row) => row.description],
  created_at: ['timestamptz', (row) => row.created_at],
})

/** Copies a card's usage counters to the card that replaces it, which has no purse yet. */
export async function copySpending(
  tx: Tx,
  { account_id, from, to }: { account_id: string; from: string; to: string },
): Promise<void> {
  await tx.run(
    `with replaced as materialized (
       select spent_day, day_spent_micros, month_spent_micros from purses
        where account_id = $1 and kind = 'card' and owner_id = $2)
     insert into purses (account_id, kind, owner_id, spent_day, day_spent_micros,
                         month_spent_micros)
     select $1, 'card', $3, spent_day, day_spent_micros, month_spent_micros from replaced`,
    [account_id, from, to],
  )
}
