import { paintFor } from '#cli/color.ts'
import { fitLayout, formatRecord, formatTable } from './table.ts'

export type Row = Readonly<Record<string, unknown>>

/** Prints JSON for scripts, or one field per line for people. */
export function printResponse(response: unknown, json: boolean): void {
  if (response === undefined) {
    if (!json) process.stdout.write('Done.\n')
    return
  }
  if (json) return void process.stdout.write(`${JSON.stringify(response, null, 2)}\n`)
  const { data, ...rest } = response as Row
  const isReport = Array.isArray(data)
  const record = formatRecord(isReport ? rest : (response as Row), paintFor(process.stdout))
  process.stdout.write(`${record}\n`)
  if (isReport) printReportRows(data)
}

/** The groups of a report such as get_spending. The key of a group only helps programs. */
function printReportRows(rows: readonly Row[]): void {
  process.stdout.write('\n')
  const isNamed = rows.some((row) => 'label' in row)
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'key' || !isNamed)
  printRows(rows, names)
}

export function printRows(rows: readonly Row[], columns: readonly string[]): void {
  if (rows.length === 0) return void process.stdout.write('No results.\n')
  // Only a terminal has a width, and some say 0; files and pipes get every column.
  const width = process.stdout.columns || Number.POSITIVE_INFINITY
  const layout = fitLayout(rows, columns, width)
  const paint = paintFor(process.stdout)
  process.stdout.write(`${formatTable(rows, layout, { width, paint })}\n`)
  const hidden = columns.filter((name) => !layout.names.includes(name)).join(', ')
  if (hidden !== '') process.stderr.write(`Not shown: ${hidden}. Use --json to see all.\n`)
}

export const printLine = (row: unknown): void =>
  void process.stdout.write(`${JSON.stringify(row)}\n`)
