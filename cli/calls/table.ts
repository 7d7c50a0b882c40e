/** Longer than this no value helps a person who reads a terminal; --json has it whole. */
const WIDTH_MAX = 60

type Row = Readonly<Record<string, unknown>>

/** Columns as wide as what stands in them, numbers to the right. */
export function tableOf(rows: readonly Row[], names: readonly string[]): string {
  const cells = rows.map((row) => names.map((name) => shown(at(row, name))))
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

/** Less than this of a text tells nobody anything. */
const TEXT_MIN = 20

/** As many columns as there is room for. The id stays: the next command will ask for it. */
export function columnsWithin(rows: readonly Row[], names: readonly string[], room: number) {
  const kept = [...names]
  const widthOf = (shown: readonly string[]) => Math.max(...linesOf(rows, shown).map(lengthOf))
  const canBeCut = () => kept.at(-1) !== 'id' && widthOf(kept.slice(0, -1)) + TEXT_MIN <= room
  while (kept.length > 2 && widthOf(kept) > room && !canBeCut()) {
    kept.splice(kept.at(-1) === 'id' ? -2 : -1, 1)
  }
  return kept
}

const linesOf = (rows: readonly Row[], names: readonly string[]) => tableOf(rows, names).split('\n')
const lengthOf = (line: string): number => line.length

/** A table whose last column is a text may end in the middle of it. */
export const tableWithin = (rows: readonly Row[], names: readonly string[], room: number): string =>
  linesOf(rows, names)
    .map((line) => (line.length > room ? `${line.slice(0, room - 1)}…` : line))
    .join('\n')

/** One thing: each field on a line, those within it under its name and a dot. */
export function recordOf(value: Row): string {
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
    return [[path, whole(field)]]
  })
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A field, or a field within one: `actor.type`. */
function at(row: Row, name: string): unknown {
  return name.split('.').reduce<unknown>((value, part) => (isRow(value) ? value[part] : null), row)
}

/** Without what a terminal would obey: merchants and support write some of these lines. */
function whole(value: unknown): string {
  if (value === null || value === undefined) return '-'
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  // An image is nothing to read.
  return text.startsWith('data:') ? cut(text) : text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

const cut = (text: string): string => `${text.slice(0, WIDTH_MAX)}…`

const MOMENT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/

function shown(value: unknown): string {
  const text = whole(value).replace(MOMENT, '$1 $2Z')
  return text.length > WIDTH_MAX ? cut(text) : text
}
