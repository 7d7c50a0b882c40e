import { recordOf, tableOf } from './table.ts'

type Row = Readonly<Record<string, unknown>>

/** One answer: JSON for scripts, lines for people. */
export function printAnswer(answer: unknown, json: boolean): void {
  if (answer === undefined) {
    if (!json) process.stdout.write('Done.\n')
    return
  }
  const text = json ? JSON.stringify(answer, null, 2) : recordOf(answer as Row)
  process.stdout.write(`${text}\n`)
}

export function printRows(rows: readonly Row[], columns: readonly string[]): void {
  process.stdout.write(rows.length === 0 ? 'Nothing.\n' : `${tableOf(rows, columns)}\n`)
}

export const printLine = (row: unknown): void =>
  void process.stdout.write(`${JSON.stringify(row)}\n`)
