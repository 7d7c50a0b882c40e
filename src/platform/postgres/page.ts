import { createHash } from 'node:crypto'
import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import { type IdPrefix, idFloor, isId } from '#kernel/id.ts'
import type { Tx } from './db.ts'
import { isMergeable, mergedRows, type ValuesOf } from './merged_rows.ts'

/**
 * Lists use keyset pagination on the id, never offsets: every page costs the same, and none repeats
 * or skips a row while rows are being added. Ids begin with their row's timestamp, so the created_*
 * filters are bounds on the same key.
 */
export type PageInput = {
  limit?: number
  cursor?: string
  order?: 'asc' | 'desc'
  created_gt?: string
  created_gte?: string
  created_lt?: string
  created_lte?: string
}

/** An SQL condition with `?` in every place of its value, if it has one. */
export type Condition = readonly [sql: string, value?: unknown]

export type PageOf<Row> = { data: Row[]; next_cursor: string | null; has_more: boolean }

/** A cursor is valid only for the operation that created it. */
export type ListQuery = {
  operation: string
  where?: readonly Condition[]
  /** The rows of these values, if their index with the id is better than the order of the list. */
  each?: ValuesOf
  input: PageInput
  /** The conditions leave few rows, and have an index that is not in the order of the list. */
  is_selective?: boolean
}

type ListSource = {
  prefix: IdPrefix
  /** Columns and table, without `where`. The id column is named `id`. */
  select: string
}

/** A page reader for one table, for the `*_store.ts` of a room. */
export function makePageReader<Row extends { id: string }>(source: ListSource) {
  return (tx: Tx, query: ListQuery): Promise<PageOf<Row>> =>
    readPage<Row>(tx, { ...source, ...query })
}

export function mapPage<Row, View>(page: PageOf<Row>, view: (row: Row) => View): PageOf<View> {
  return { ...page, data: page.data.map((row) => view(row)) }
}

const DEFAULT_LIMIT = 25

/**
 * A page reads the next of these numbers of rows, which is part of its statement. With a parameter
 * instead, PostgreSQL expects a tenth of the account's rows from a plan that it could keep, and
 * plans every page anew, which takes longer than to read fifteen rows more (docs/performance.md).
 */
const READ_SIZES = [10, DEFAULT_LIMIT, 50, 100]

export async function readPage<Row extends { id: string }>(
  tx: Tx,
  list: ListSource & ListQuery,
): Promise<PageOf<Row>> {
  const { operation, prefix, select, where = [], each, input, is_selective = false } = list
  const order = input.order ?? 'desc'
  const limit = input.limit ?? DEFAULT_LIMIT
  const binding = cursorBinding(operation, input)
  const isKey = (text: string) => isId(prefix, text)
  const after = input.cursor === undefined ? null : parseCursor(input.cursor, isKey, binding)
  const bounds = createdBounds(prefix, input)
  if (after !== null) bounds.push([order === 'desc' ? 'id < ?' : 'id > ?', after])
  const read_size = READ_SIZES.find((size) => size >= limit) ?? limit
  const page = `order by id ${order} limit ${read_size + 1}`

  const merged = each !== undefined && isMergeable(each) ? each : null
  const of_each = each === undefined || merged !== null ? [] : [isIn(each.column, each.values)]
  const filters = [...where, ...of_each]
  const { clauses, values } = numbered([...filters, ...bounds])
  const rows = `${select} where ${clauses.join(' and ') || 'true'}`
  // The offset keeps PostgreSQL from reading in the order of the list until it has found them.
  let source = is_selective ? `select * from (${rows} offset 0) page` : rows
  if (merged !== null) {
    values.push([...new Set(merged.values)])
    const { column } = merged
    const end = { order, limit: read_size + 1, bounds: clauses.slice(filters.length) }
    source = mergedRows(rows, { ...end, column, position: values.length })
  }
  const found = await tx.rows<Row>(`${source} ${page}`, values)
  const data = found.slice(0, limit)
  const has_more = found.length > limit
  const last = data.at(-1)
  return {
    data,
    has_more,
    next_cursor: has_more && last !== undefined ? makeCursor(last.id, binding) : null,
  }
}

/** Numbers the values of all conditions. */
function numbered(conditions: readonly Condition[]): { clauses: string[]; values: unknown[] } {
  const values: unknown[] = []
  const clauses = conditions.map((condition) => {
    const [sql] = condition
    if (!takesValue(condition)) return sql
    values.push(condition[1])
    return sql.replaceAll('?', () => `$${values.length}`)
  })
  return { clauses, values }
}

/**
 * A response has at most 25 MB. JSON writes a control character of one byte as six, so this much
 * text fits in any case, together with the other fields of 100 rows.
 */
const PAGE_TEXT_BYTES_MAX = 2_000_000

/** Ends a page early if its rows have long texts, such as the messages of a ticket. */
export function endPageBySize<Row extends { id: string }>(
  page: PageOf<Row>,
  { operation, input }: ListQuery,
  bytes: ReadonlyMap<string, number>,
): PageOf<Row> {
  let total = 0
  const data = page.data.filter((row, at) => {
    total += bytes.get(row.id) ?? 0
    return at === 0 || total <= PAGE_TEXT_BYTES_MAX
  })
  const last = data.at(-1)
  if (last === undefined || data.length === page.data.length) return page
  return { data, has_more: true, next_cursor: pageCursor({ operation, input, id: last.id }) }
}

/** A page of rows that are computed and not stored, such as months. `rows` are in order of time. */
export function pageOfComputed<Row extends { key: string; created_at: Date }>(
  rows: readonly Row[],
  { operation, input }: { operation: string; input: PageInput },
): PageOf<Row> {
  const binding = cursorBinding(operation, input)
  const limit = input.limit ?? DEFAULT_LIMIT
  const created = rows.filter(({ created_at }) => isWithin(created_at.getTime(), input))
  const ordered = input.order === 'asc' ? created : created.toReversed()
  const isKey = (text: string) => rows.some(({ key }) => key === text)
  const after = input.cursor === undefined ? null : parseCursor(input.cursor, isKey, binding)
  const from = ordered.findIndex(({ key }) => key === after) + 1
  const data = ordered.slice(from, from + limit)
  const has_more = ordered.length > from + limit
  const last = data.at(-1)
  return { data, has_more, next_cursor: has_more && last ? makeCursor(last.key, binding) : null }
}

function isWithin(at_ms: number, input: PageInput): boolean {
  const first = (name: CreatedFilter) => firstMatch(name, input[name] ?? '')
  return (
    (input.created_gt === undefined || at_ms >= first('created_gt')) &&
    (input.created_gte === undefined || at_ms >= first('created_gte')) &&
    (input.created_lt === undefined || at_ms < first('created_lt')) &&
    (input.created_lte === undefined || at_ms < first('created_lte'))
  )
}

const takesValue = (condition: Condition) => condition.length === 2

/** Matches any of the values. Rows of a single one can be read from an index in their order. */
export function isIn(column: string, values: readonly string[]): Condition {
  const [value, ...others] = values
  const isOne = value !== undefined && others.length === 0
  return isOne ? [`${column} = ?`, value] : [`${column} = any(?)`, values]
}

/** Matches any value of a comma-separated list; no condition if the filter is absent. */
export function anyOf(column: string, list: string | undefined): Condition[] {
  return list === undefined ? [] : [isIn(column, list.split(','))]
}

export function equals(column: string, value: string | undefined): Condition[] {
  return value === undefined ? [] : [[`${column} = ?`, value]]
}

/** Ids have a resolution of one millisecond. */
const ID_STEP_MS = 1

function createdBounds(prefix: IdPrefix, input: PageInput): Condition[] {
  const bound = (comparison: string, name: CreatedFilter): Condition[] => {
    const timestamp = input[name]
    if (timestamp === undefined) return []
    return [[`id ${comparison} ?`, idFloor(prefix, firstMatch(name, timestamp))]]
  }
  return [
    ...bound('>=', 'created_gt'),
    ...bound('>=', 'created_gte'),
    ...bound('<', 'created_lt'),
    ...bound('<', 'created_lte'),
  ]
}

type CreatedFilter = 'created_gt' | 'created_gte' | 'created_lt' | 'created_lte'

/** Digits after the millisecond, which Date.parse drops. */
const FINER_THAN_MS = /\.\d{3}\d*[1-9]/

/**
 * The first millisecond after (gt, lte) or not before (gte, lt) the filter's time: where the rows
 * of gt and gte begin, and those of lt and lte end.
 */
function firstMatch(name: CreatedFilter, timestamp: string): number {
  const ms = parseTimestamp(name, timestamp)
  const isNext = name === 'created_gt' || name === 'created_lte' || FINER_THAN_MS.test(timestamp)
  return isNext ? ms + ID_STEP_MS : ms
}

/** The schema accepts a leap second (23:59:60), which Date.parse does not. */
function parseTimestamp(field: CreatedFilter, timestamp: string): number {
  const ms = Date.parse(timestamp)
  if (!Number.isNaN(ms)) return ms
  const message = 'is not a valid date and time'
  throw fieldProblem('invalid_request', field, message)
}

/** The cursor of a list's page that ends with this row. */
export const pageCursor = ({ operation, input, id }: CursorPlace): string =>
  makeCursor(id, cursorBinding(operation, input))

type CursorPlace = { operation: string; input: PageInput; id: string }

/** A cursor is bound to its list, filters and order; only the page size may change. */
function cursorBinding(operation: string, input: PageInput): string {
  const { limit: _limit, cursor: _cursor, ...rest } = input
  const bound = canonicalJson({ operation, ...rest, order: input.order ?? 'desc' })
  return createHash('sha256').update(bound).digest('base64url').slice(0, 12)
}

function makeCursor(id: string, binding: string): string {
  return Buffer.from(`${binding}.${id}`).toString('base64url')
}

function parseCursor(cursor: string, isKey: (text: string) => boolean, binding: string): string {
  const [bound, key = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('.')
  if (!isKey(key)) {
    throw new Problem('invalid_cursor', 'This cursor is not valid. Pass next_cursor unchanged.')
  }
  if (bound !== binding) {
    throw new Problem(
      'invalid_cursor',
      'This cursor was created for a different list, filter or order.',
    )
  }
  return key
}
