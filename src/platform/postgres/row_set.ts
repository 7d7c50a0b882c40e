import type pg from 'pg'
import {
  encode,
  writeBigint,
  writeBoolean,
  writeBytes,
  writeCount,
  writeNull,
  writeRaw,
  writeText,
  writeTexts,
  writeTimestamp,
} from './binary_values.ts'
import { prepared } from './statement.ts'
import { copyWrite, type Write } from './write.ts'

type Getter<Row, Value> = (row: Row) => Value | null | undefined

export type Column<Row> =
  | readonly ['text', Getter<Row, string>]
  | readonly ['bigint', Getter<Row, bigint>]
  | readonly ['boolean', Getter<Row, boolean>]
  | readonly ['timestamptz', Getter<Row, Date>]
  | readonly ['bytea', Getter<Row, Uint8Array>]
  | readonly ['text[]', Getter<Row, readonly string[]>]

const writers = {
  text: writeText,
  bigint: writeBigint,
  boolean: writeBoolean,
  timestamptz: writeTimestamp,
  bytea: writeBytes,
  'text[]': writeTexts,
}

const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const END = -1

/** Encodes new rows of one table as a write. */
export type RowSet<Row> = (rows: readonly Row[]) => Write

/**
 * Declares a table's columns for writing new rows. COPY writes whole pages, while an insert runs a
 * plan per row (`npm run bench -- authorizations`). For a few rows it is the other way around: a
 * COPY has no stored plan, and one row of a purchase takes 150 µs instead of 90.
 */
export function rowSet<Row>(
  table: string,
  columns: Readonly<Record<string, Column<Row>>>,
): RowSet<Row> {
  const target = `${table} (${Object.keys(columns).join(', ')})`
  const sql = `copy ${target} from stdin (format binary)`
  const fields = Object.values(columns).map(
    ([type, of]) => ({ type, of, write: writers[type] }) as Field,
  )
  return (rows) => {
    const asInsert = () => insertOf(target, fields, rows)
    const is_few = rows.length > 0 && rows.length <= INSERTED_ROWS_MAX
    if (is_few) return { statement: asInsert() }
    return copyWrite(sql, { data: encode(() => writeRows(fields, rows)), asInsert })
  }
}

type Field = { type: Column<never>[0]; of: Getter<unknown, unknown>; write(value: unknown): void }

/** PostgreSQL refuses COPY if row-level security applies to the role. */
function insertOf(
  target: string,
  fields: readonly Field[],
  rows: readonly unknown[],
): pg.QueryConfig {
  const values = rows.flatMap((row) => fields.map(({ of }) => of(row) ?? null))
  const tuples = rows.map((_, at) => {
    const first = at * fields.length + 1
    return `(${fields.map(({ type }, index) => `$${first + index}::${type}`).join(', ')})`
  })
  const text = `insert into ${target} values ${tuples.join(', ')}`
  return rows.length <= INSERTED_ROWS_MAX ? prepared(text, values) : { text, values }
}

/** Each number of rows is a different statement; only small, frequent ones are prepared. */
const INSERTED_ROWS_MAX = 2

function writeRows(fields: readonly Field[], rows: readonly unknown[]): void {
  writeRaw(HEAD)
  for (const row of rows) {
    writeCount(fields.length)
    for (const { of, write } of fields) {
      const value = of(row)
      if (value === null || value === undefined) writeNull()
      else write(value)
    }
  }
  writeCount(END)
}
