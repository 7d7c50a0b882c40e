import { columnsWithin, recordOf, tableWithin } from './table.ts'

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
  if (rows.length === 0) return void process.stdout.write('Nothing.\n')
  // Only a terminal has a width; what goes into a file is whole.
  const { columns: room = Number.POSITIVE_INFINITY } = process.stdout
  const kept = columnsWithin(rows, columns, room)
  process.stdout.write(`${tableWithin(rows, kept, room)}\n`)
  const left_out = columns.filter((name) => !kept.includes(name)).join(', ')
  if (left_out !== '') process.stderr.write(`No room for ${left_out}; --json has all of it.\n`)
}

/** A page, and how to get the next one. Lists without pages have no cursor. */
export type Listed = { data: readonly Row[]; next_cursor?: string | null }

export function printPage(
  { data, next_cursor }: Listed,
  columns: readonly string[],
  all = '',
): void {
  printRows(data, columns)
  if (next_cursor) process.stderr.write(`There is more: --cursor ${next_cursor}${all}.\n`)
}

export const printLine = (row: unknown): void =>
  void process.stdout.write(`${JSON.stringify(row)}\n`)
