import type { Handler } from '#domain/context/context.ts'
import { findHistoryStart } from '#domain/ledger/history_start.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { mapPage, pageOfComputed } from '#platform/postgres/page.ts'
import { type Period, periodsBetween } from './period.ts'
import {
  type KindSums,
  noSums,
  type StatementRow,
  statementParts,
  statementView,
  sumOf,
} from './statement.ts'
import { findAccountStart, findPeriodSums } from './statement_store.ts'

export const listStatements: Handler<'list_statements'> = async (context, input) => {
  const { tx, caller, now, settings } = context
  const started = await findAccountStart(tx, caller.account_id)
  const kept_from = await findHistoryStart(tx)
  const periods = periodsBetween(latest(started ?? now, kept_from), now)
  const page = pageOfComputed(periods, { operation: 'list_statements', input })
  const statements = await findStatements(tx, caller.account_id, { periods, wanted: page.data })
  return mapPage({ ...page, data: statements }, (row) =>
    statementView(row, { now, public_url: settings.public_url }),
  )
}

/** A month whose movements are archived has no statement, rather than an empty one. */
const latest = (started: Date, kept_from: Date | null): Date =>
  kept_from !== null && kept_from > started ? kept_from : started

/**
 * The statements of the wanted months. The last closing balance is the account's total now, and
 * each month before it closes where the next one opens.
 */
async function findStatements(
  tx: Tx,
  account_id: string,
  { periods, wanted }: { periods: readonly Period[]; wanted: readonly Period[] },
): Promise<StatementRow[]> {
  const first = periods.findIndex((period) => wanted.includes(period))
  if (first === -1) return []
  const needed = periods.slice(first)
  const rows = await findPeriodSums(tx, account_id, needed)
  const sums = new Map<string, KindSums>(needed.map(({ key }) => [key, noSums()]))
  for (const { period, movement, amount_micros, fee_micros } of rows) {
    const of_period = sums.get(period) ?? noSums()
    if (movement === null) continue
    for (const part of statementParts(movement, { amount_micros, fee_micros })) {
      of_period[part.kind] += part.amount_micros
    }
  }
  let closing = rows[0]?.total_micros ?? 0n
  const statements = new Map<Period, StatementRow>()
  for (const period of needed.toReversed()) {
    const of_period = sums.get(period.key) ?? noSums()
    const opening = closing - sumOf(of_period)
    statements.set(period, { period, opening, sums: of_period, closing })
    closing = opening
  }
  return wanted.flatMap((period) => statements.get(period) ?? [])
}
