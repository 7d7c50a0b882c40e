import { fitColumns, fitTable, formatRecord } from './table.ts'

type Row = Readonly<Record<string, unknown>>

/** Prints JSON for scripts, or one field per line for people. */
export function printResponse(response: unknown, json: boolean): void {
  if (response === undefined) {
    if (!json) process.stdout.write('Done.\n')
    return
  }
  const text = json ? JSON.stringify(response, null, 2) : formatRecord(response as Row)
  process.stdout.write(`${text}\n`)
}

export function printRows(rows: readonly Row[], columns: readonly string[]): void {
  if (rows.length === 0) return void process.stdout.write('No results.\n')
  // Only a terminal has a width; files and pipes get every column.
  const { columns: width = Number.POSITIVE_INFINITY } = process.stdout
  const visible = fitColumns(rows, columns, width)
  process.stdout.write(`${fitTable(rows, visible, width)}\n`)
  const hidden = columns.filter((name) => !visible.includes(name)).join(', ')
  if (hidden !== '') process.stderr.write(`Hidden columns: ${hidden}. Use --json to see all.\n`)
}

/** Lists without pages have no cursor. */
export type ListResponse = { data: readonly Row[]; next_cursor?: string | null }

export function printPage(
  { data, next_cursor }: ListResponse,
  columns: readonly string[],
  hint = '',
): void {
  printRows(data, columns)
  if (next_cursor) process.stderr.write(`More results: --cursor ${next_cursor}${hint}.\n`)
}

export const printLine = (row: unknown): void =>
  void process.stdout.write(`${JSON.stringify(row)}\n`)
