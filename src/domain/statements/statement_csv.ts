import { csvRow } from '#kernel/csv.ts'
import { dollarsFromMicros } from '#kernel/money.ts'
import type { StatementLine } from './statement_lines.ts'

const COLUMNS = [
  'date',
  'type',
  'description',
  'card_last4',
  'amount_usd',
  'balance_usd',
  'reference_id',
]

export async function* writeStatementCsv(
  lines: AsyncIterable<StatementLine>,
): AsyncGenerator<string> {
  yield csvRow(COLUMNS)
  for await (const line of lines) {
    yield csvRow([
      line.date,
      line.kind,
      line.description,
      line.card_last4,
      dollarsFromMicros(line.amount_micros),
      dollarsFromMicros(line.balance_micros),
      line.reference_id,
    ])
  }
}
