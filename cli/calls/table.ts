import { describeDevice } from '#kernel/device.ts'
import { formatUsd } from './money.ts'

/** Longer values are cut in tables; --json and --csv print them in full. */
const WIDTH_MAX = 60
const GAP = '  '

type Row = Readonly<Record<string, unknown>>
/** Adds colors to the text of a cell; a header has no value. */
export type Paint = (name: string, text: string, isHeader: boolean) => string
/** The visible columns, and the width at which texts are cut. */
export type Layout = { names: readonly string[]; text_max: number }

const plain: Paint = (_name, text) => text

/** Columns are as wide as their widest value; numbers are right-aligned. */
export function formatTable(
  rows: readonly Row[],
  { names, text_max }: Layout,
  { width = Number.POSITIVE_INFINITY, paint = plain } = {},
): string {
  const labels = names.map(labelOf)
  const cells = rows.map((row) => names.map((name) => formatCell(name, at(row, name), text_max)))
  const widths = names.map((_, column) =>
    Math.max(...[labels, ...cells].map((line) => line[column]?.length ?? 0)),
  )
  const isNumber = names.map((name) => rows.some((row) => typeof at(row, name) === 'number'))
  const line = (words: readonly string[], isHeader: boolean) => {
    const padded = words.map((word, column) =>
      isNumber[column] ? word.padStart(widths[column] ?? 0) : word.padEnd(widths[column] ?? 0),
    )
    return cutLine(padded.join(GAP).trimEnd(), width).replace(/^.*$/, (text) =>
      paintCells(text, names, widths, (name, word) => paint(name, word, isHeader)),
    )
  }
  return [line(labels, true), ...cells.map((words) => line(words, false))].join('\n')
}

const cutLine = (line: string, width: number): string =>
  line.length > width ? `${line.slice(0, width - 1)}…` : line

/** Colors come last, because their codes have a length but no width. */
function paintCells(
  line: string,
  names: readonly string[],
  widths: readonly number[],
  paint: (name: string, word: string) => string,
): string {
  let from = 0
  return names
    .map((name, column) => {
      const to = from + (widths[column] ?? 0)
      const cell = line.slice(from, to).replace(/\S.*\S|\S/, (word) => paint(name, word))
      const gap = line.slice(to, to + GAP.length)
      from = to + GAP.length
      return cell + gap
    })
    .join('')
}

/** `amount_usd` is shown as "amount": its values have a dollar sign. */
const labelOf = (name: string): string =>
  name === 'user_agent' ? 'device' : name.replace(/_(usd|at|name)$/, '').replaceAll(/[_.]/g, ' ')

/** The first columns say what a row is about, so they are never dropped. */
const LEAD = 3
/** Texts are cut to the first width, and if that is not enough to the second. */
const TEXT_WIDTHS = [32, 20]

/** Drops columns that do not fit, from the right. The ID stays as long as the first ones fit. */
export function fitLayout(rows: readonly Row[], names: readonly string[], width: number): Layout {
  const whole = { names, text_max: WIDTH_MAX }
  if (widthOf(rows, whole) <= width) return whole
  for (const text_max of TEXT_WIDTHS) {
    for (const kept of narrowerLists(names)) {
      const layout = { names: kept, text_max }
      if (widthOf(rows, layout) <= width) return layout
    }
  }
  const lead = names.filter((name) => name !== 'id').slice(0, LEAD)
  return { names: lead, text_max: TEXT_WIDTHS.at(-1) ?? WIDTH_MAX }
}

/** All columns, then one less each time, down to the first ones and the ID. */
function narrowerLists(names: readonly string[]): string[][] {
  const optional = names.slice(LEAD).filter((name) => name !== 'id')
  return Array.from({ length: optional.length + 1 }, (_, dropped) => {
    const hidden = optional.slice(optional.length - dropped)
    return names.filter((name) => !hidden.includes(name))
  })
}

/** A text in the last column can be cut at the edge, so it counts with its label only. */
function widthOf(rows: readonly Row[], { names, text_max }: Layout): number {
  const last = names.at(-1) ?? ''
  const isText = last !== 'id' && rows.every((row) => typeof at(row, last) !== 'number')
  const counted = isText && names.length > 1 ? names.slice(0, -1) : names
  const table = formatTable(rows, { names: counted, text_max })
  const rest = counted === names ? 0 : GAP.length + Math.min(textWidth(rows, last), 20)
  return Math.max(...table.split('\n').map(({ length }) => length)) + rest
}

const textWidth = (rows: readonly Row[], name: string): number =>
  Math.max(labelOf(name).length, ...rows.map((row) => formatCell(name, at(row, name)).length))

/** The fields that people look for first, in this order. */
const LEADING = ['amount_usd', 'balance_usd', 'merchant_name', 'name', 'subject', 'status']

/** Of one object: amount, merchant or name and status, then the other fields, and its IDs last. */
function rankOf(field: string): number {
  const at = LEADING.indexOf(field)
  if (at !== -1) return at
  return LEADING.length + (/^(\w+_)?id$/.test(field) ? 1 : 0)
}

/** Formats one object with a field per line; nested fields as `parent.child`. */
export function formatRecord(value: Row, paint: Paint = plain): string {
  const lines = fieldsIn(value, '').toSorted(([a], [b]) => rankOf(a) - rankOf(b))
  const width = Math.max(0, ...lines.map(([name]) => name.length))
  return lines
    .map(([name, text]) => {
      const label = paint(name, name, true) + ' '.repeat(width - name.length)
      return `${label}${GAP}${paint(name, text, false)}`.trimEnd()
    })
    .join('\n')
}

function fieldsIn(value: Row, prefix: string): [string, string][] {
  return Object.entries(value).flatMap(([name, field]): [string, string][] => {
    const path = prefix + name
    if (isRow(field)) return fieldsIn(field, `${path}.`)
    if (Array.isArray(field) && field.some(isRow)) {
      return field.flatMap((each, index) => fieldsIn({ [index]: each }, `${path}.`))
    }
    return [[path, formatValue(path, field)]]
  })
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a field or a nested field: `actor.type`. */
export function at(row: Row, name: string): unknown {
  return name.split('.').reduce<unknown>((value, part) => (isRow(value) ? value[part] : null), row)
}

/** Removes control characters, because merchants and support agents write some of these texts. */
function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'number' && name.endsWith('_usd')) return formatUsd(value)
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  // Images (QR codes) are long data: URLs.
  return text.startsWith('data:') ? cut(text, WIDTH_MAX) : text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

const cut = (text: string, width: number): string => `${text.slice(0, width - 1)}…`

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/

/** IDs are never cut: a part of one is useless. */
function formatCell(name: string, value: unknown, text_max = WIDTH_MAX): string {
  const shown = name === 'user_agent' ? describeDevice(String(value ?? '')) : value
  const text = formatValue(name, shown).replace(TIMESTAMP, '$1 $2Z')
  return text.length > text_max && !/(^|_)id$/.test(name) ? cut(text, text_max) : text
}
