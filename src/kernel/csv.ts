/**
 * A row of a CSV file (RFC 4180), with its line break. Spreadsheets run text that begins with one
 * of = + - @ as a formula, even after a tab or line break, so such text begins with an apostrophe.
 * Numbers are safe and stay numbers.
 */
export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\n`
}

export type CsvCell = string | number | boolean | null | undefined

const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u
const NUMBER = /^-?\d+(\.\d+)?$/

function cellText(cell: CsvCell): string {
  const text = String(cell ?? '')
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
