/** Longer values are cut in tables; --json prints them in full. */
const WIDTH_MAX = 60

type Row = Readonly<Record<string, unknown>>

/** Columns are as wide as their widest value; numbers are right-aligned. */
export function formatTable(rows: readonly Row[], names: readonly string[]): string {
  const cells = rows.map((row) => names.map((name) => formatCell(at(row, name))))
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((line) => line[column]?.length ?? 0)),
  )
  const isNumber = names.map((name) => rows.some((row) => typeof at(row, name) === 'number'))
  const line = (words: readonly string[]) =>
    words
      .map((word, column) =>
        isNumber[column] ? word.padStart(widths[column] ?? 0) : word.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(names), ...cells.map(line)].join('\n')
}

/** A text column cut below this width is unreadable. */
const TEXT_MIN = 20

/** Drops columns that do not fit. The ID stays, because the next command needs it. */
export function fitColumns(rows: readonly Row[], names: readonly string[], width: number) {
  const kept = [...names]
  const widthOf = (formatCell: readonly string[]) =>
    Math.max(...linesOf(rows, formatCell).map(lengthOf))
  const canBeCut = () => kept.at(-1) !== 'id' && widthOf(kept.slice(0, -1)) + TEXT_MIN <= width
  while (kept.length > 2 && widthOf(kept) > width && !canBeCut()) {
    kept.splice(kept.at(-1) === 'id' ? -2 : -1, 1)
  }
  return kept
}

const linesOf = (rows: readonly Row[], names: readonly string[]) =>
  formatTable(rows, names).split('\n')
const lengthOf = (line: string): number => line.length

/** Cuts lines that are too long, which shortens a text in the last column. */
export const fitTable = (rows: readonly Row[], names: readonly string[], width: number): string =>
  linesOf(rows, names)
    .map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line))
    .join('\n')

/** Formats one object with a field per line; nested fields as `parent.child`. */
export function formatRecord(value: Row): string {
  const lines = fieldsIn(value, '')
  const width = Math.max(0, ...lines.map(([name]) => name.length))
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`.trimEnd()).join('\n')
}

function fieldsIn(value: Row, prefix: string): [string, string][] {
  return Object.entries(value).flatMap(([name, field]): [string, string][] => {
    const path = prefix + name
    if (isRow(field)) return fieldsIn(field, `${path}.`)
    if (Array.isArray(field) && field.some(isRow)) {
      return field.flatMap((each, index) => fieldsIn({ [index]: each }, `${path}.`))
    }
    return [[path, formatValue(field)]]
  })
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a field or a nested field: `actor.type`. */
function at(row: Row, name: string): unknown {
  return name.split('.').reduce<unknown>((value, part) => (isRow(value) ? value[part] : null), row)
}

/** Removes control characters, because merchants and support agents write some of these texts. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  // Images (QR codes) are long data: URLs.
  return text.startsWith('data:') ? cut(text) : text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

const cut = (text: string): string => `${text.slice(0, WIDTH_MAX)}…`

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/

function formatCell(value: unknown): string {
  const text = formatValue(value).replace(TIMESTAMP, '$1 $2Z')
  return text.length > WIDTH_MAX ? cut(text) : text
}
