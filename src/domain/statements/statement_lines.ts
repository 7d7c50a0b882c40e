import type { Statement, StatementKind } from '#contract/statements.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { periodOf } from './period.ts'
import { statementParts } from './statement.ts'
import { findStatementMovements, type StatementMovement } from './statement_store.ts'

/** A line of a statement's files. */
export type StatementLine = {
  date: string
  kind: StatementKind
  description: string
  card_last4: string | null
  amount_micros: Micros
  /** Treasury and cards after this line. */
  balance_micros: Micros
  reference_id: string
}

/** Rows read at a time: a file streams with flat memory, however long its month is. */
const READ_ROWS = 1_000

/** The lines of a statement in order of time. */
export async function* statementLinesOf(
  tx: Tx,
  account_id: string,
  { period, opening_usd }: Pick<Statement, 'period' | 'opening_usd'>,
): AsyncGenerator<StatementLine> {
  const { first_id, end_id } = periodOf(period)
  let balance_micros = microsFromUsd(opening_usd)
  let after = first_id
  for (;;) {
    const range = { account_id, after, end_id, limit: READ_ROWS }
    const movements = await findStatementMovements(tx, range)
    for (const movement of movements) {
      for (const part of statementParts(movement.movement, movement)) {
        balance_micros += part.amount_micros
        yield { ...part, ...lineTexts(movement, part.kind), balance_micros }
      }
      after = movement.id
    }
    if (movements.length < READ_ROWS) return
  }
}

function lineTexts(movement: StatementMovement, kind: StatementKind) {
  const { created_at, description, card_last4, reference_id } = movement
  const date = created_at.toISOString().slice(0, 10)
  const isFee = kind === 'fees'
  return { date, description: isFee ? 'Withdrawal fee' : description, card_last4, reference_id }
}
