import { type Statement, type StatementKind, statement_kinds } from '#contract/statements.ts'
import { type MovementName, statementSideOf } from '#domain/ledger/movements.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import { isFinal, type Period } from './period.ts'

export type KindSums = Record<StatementKind, Micros>

/** A month with its sums. Opening plus all kinds is closing. */
export type StatementRow = { period: Period; opening: Micros; sums: KindSums; closing: Micros }

/** A part of a movement as a statement shows it. */
export type StatementPart = { kind: StatementKind; amount_micros: Micros }

/**
 * The signed parts of a movement. A withdrawal leaves the account with its fee inside, and a
 * statement shows both.
 */
export function statementParts(
  movement: MovementName,
  { amount_micros, fee_micros }: { amount_micros: Micros; fee_micros: Micros },
): StatementPart[] {
  const { kind, isDebit } = statementSideOf(movement)
  const signed = (micros: Micros) => (isDebit ? -micros : micros)
  const main = { kind, amount_micros: signed(amount_micros - fee_micros) }
  return fee_micros === 0n ? [main] : [main, { kind: 'fees', amount_micros: signed(fee_micros) }]
}

export const noSums = (): KindSums =>
  Object.fromEntries(statement_kinds.map((kind) => [kind, 0n])) as KindSums

export const sumOf = (sums: KindSums): Micros =>
  statement_kinds.reduce((sum, kind) => sum + sums[kind], 0n)

export function statementView(
  { period, opening, sums, closing }: StatementRow,
  { now, public_url }: { now: Date; public_url: string },
): Statement {
  const file = `${public_url}/files/statements/${period.key}`
  return {
    period: period.key,
    is_final: isFinal(period, now),
    opening_usd: usdFromMicros(opening),
    deposits_usd: usdFromMicros(sums.deposits),
    withdrawals_usd: usdFromMicros(sums.withdrawals),
    spent_usd: usdFromMicros(sums.spent),
    refunds_usd: usdFromMicros(sums.refunds),
    disputes_usd: usdFromMicros(sums.disputes),
    fees_usd: usdFromMicros(sums.fees),
    other_usd: usdFromMicros(sums.other),
    closing_usd: usdFromMicros(closing),
    csv_url: `${file}.csv`,
    pdf_url: `${file}.pdf`,
  }
}
