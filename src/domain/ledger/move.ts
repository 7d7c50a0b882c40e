import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { dependsOnDebt, insufficient } from './debt.ts'
import type { MovementRow } from './ledger_store.ts'
import type { Move } from './movements.ts'
import { beginPosting, pursesIn, requireValid, rowOf, type Stamp } from './post.ts'
import { CUSTOMER_KINDS, receivable, treasury } from './purse.ts'

/** The result of a movement, with the treasury balance after a debt was paid. */
export type MovementResult = MovementRow & { treasury_micros: Micros | null }

/** Posts one movement, or throws a Problem. */
export async function move(tx: Tx, one: Move, stamp: Stamp): Promise<MovementResult> {
  requireValid(one)
  const row = rowOf(one, stamp.now, stamp)
  const moved = await moveInOneStatement(tx, row, { checks_debt: dependsOnDebt(one) })
  if (moved !== null) return { ...row, ...moved, treasury_micros: treasuryAfter(one, moved) }
  const posting = await beginPosting(tx, pursesIn(one), stamp)
  const posted = posting.move(one)
  if (posted === null) {
    throw insufficient(one, -posting.balanceOf(one.account_id, receivable))
  }
  await posting.write()
  return { ...posted, treasury_micros: posting.balanceOf(one.account_id, treasury) }
}

function treasuryAfter({ from, to }: Move, moved: Balances): Micros | null {
  if (from.kind === 'treasury') return moved.from_balance_micros
  return to.kind === 'treasury' ? moved.to_balance_micros : null
}

type OneMovement = Omit<MovementRow, 'from_balance_micros' | 'to_balance_micros'>

type Balances = Pick<MovementRow, 'from_balance_micros' | 'to_balance_micros'>

/**
 * Posts one movement in one statement, if both purses exist, the balance covers it, the treasury's
 * last movement is older, and there is no debt where that matters. Otherwise null, and the slower
 * path finds out why. Locks in key order.
 */
async function moveInOneStatement(
  tx: Tx,
  row: OneMovement,
  { checks_debt }: { checks_debt: boolean },
): Promise<Balances | null> {
  const kinds = checks_debt
    ? [row.from_kind, row.to_kind, 'receivable']
    : [row.from_kind, row.to_kind]
  const [moved] = await tx.rows<Balances>(MOVE_IN_ONE_STATEMENT, [
    row.account_id,
    row.id,
    row.movement,
    row.from_kind,
    row.from_owner_id,
    row.to_kind,
    row.to_owner_id,
    row.amount_micros,
    row.reference_type,
    row.reference_id,
    row.description,
    row.created_at,
    kinds.filter((kind) => CUSTOMER_KINDS.has(kind)).length,
    checks_debt ? 'receivable' : '',
  ])
  return moved ?? null
}

/**
 * The update adds to the locked balance and not to the row's column: PostgreSQL checks constraints
 * before it sees that another transaction changed the row, so a load that waits for a credit would
 * fail although the credit covers it.
 */
const MOVE_IN_ONE_STATEMENT = `
  with locked as materialized (
    select kind, owner_id, balance_micros, moved_at from purses
     where account_id = $1
       and ((kind = $4 and owner_id = $5) or (kind = $6 and owner_id = $7)
            or (kind = $14 and owner_id = ''))
       and $13 = (select count(*) from purses
                   where account_id = $1
                     and ((kind = $4 and owner_id = $5) or (kind = $6 and owner_id = $7)
                          or (kind = $14 and owner_id = '')))
     order by account_id, kind, owner_id
       for update
  ), valid as materialized (
    select from locked
    having count(*) = $13
       and coalesce(bool_and(balance_micros >= $8::bigint)
                      filter (where kind = $4 and owner_id = $5 and kind <> 'receivable'), true)
       and coalesce(bool_and(moved_at < $12) filter (where kind = 'treasury'), true)
       and coalesce(bool_and(balance_micros = 0) filter (where kind = $14), true)
  ), changed as (
    update purses p
       set balance_micros = l.balance_micros
             + case when l.kind = $4 and l.owner_id = $5 then -$8::bigint else $8::bigint end,
           moved_at = $12
      from locked l
     where p.account_id = $1 and p.kind = l.kind and p.owner_id = l.owner_id
       and ((l.kind = $4 and l.owner_id = $5) or (l.kind = $6 and l.owner_id = $7))
       and exists (select from valid)
    returning p.kind, p.owner_id, p.balance_micros
  )
  insert into movements (account_id, id, movement, from_kind, from_owner_id, to_kind, to_owner_id,
         amount_micros, reference_type, reference_id, description, created_at,
         from_balance_micros, to_balance_micros)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
         (select balance_micros from changed where kind = $4 and owner_id = $5),
         (select balance_micros from changed where kind = $6 and owner_id = $7)
   where exists (select from valid)
  returning from_balance_micros, to_balance_micros`
