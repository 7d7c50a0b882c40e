import {
  built,
  writeBigint,
  writeBoolean,
  writeBytes,
  writeCount,
  writeMoment,
  writeNull,
  writeRaw,
  writeText,
  writeTexts,
} from './binary_values.ts'
import { copying, type Write } from './write.ts'

type Of<Row, Value> = (row: Row) => Value | null | undefined

export type Column<Row> =
  | readonly ['text', Of<Row, string>]
  | readonly ['bigint', Of<Row, bigint>]
  | readonly ['boolean', Of<Row, boolean>]
  | readonly ['timestamptz', Of<Row, Date>]
  | readonly ['bytea', Of<Row, Uint8Array>]
  | readonly ['text[]', Of<Row, readonly string[]>]

const writers = {
  text: writeText,
  bigint: writeBigint,
  boolean: writeBoolean,
  timestamptz: writeMoment,
  bytea: writeBytes,
  'text[]': writeTexts,
}

const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const END = -1

/** Encodes new rows of one table as a write. */
export type RowSet<Row> = (rows: readonly Row[]) => Write

/**
 * New rows of a table, by the names, types and values of their columns. They are copied in: the
 * server lays them down page by page, where an insert would take each of them through a plan.
 */
export function rowSet<Row>(
  table: string,
  columns: Readonly<Record<string, Column<Row>>>,
): RowSet<Row> {
  const sql = `copy ${table} (${Object.keys(columns).join(', ')}) from stdin (format binary)`
  const fields = Object.values(columns).map(([type, of]) => ({ of, write: writers[type] }) as Field)
  return (rows) =>
    copying(
      sql,
      built(() => writeRows(fields, rows)),
    )
}

type Field = { of: Of<unknown, unknown>; write(value: unknown): void }

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
