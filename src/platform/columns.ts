/**
 * Sets of rows as parameters: a column is an array in PostgreSQL's binary form, for unnest and any.
 * Its text form would be escaped here and parsed there, character by character, which costs both
 * sides more than anything else they do with a row.
 */
type Of<Row, Value> = (row: Row) => Value | null | undefined

const OID = { boolean: 16, bytea: 17, bigint: 20, text: 25, date: 1082, timestamptz: 1184 } as const
const INT_BYTES = 4
const EMPTY_BYTES = 3 * INT_BYTES
const WORD_BYTES = 8
/** A character of a string takes up to three bytes. */
const CHARACTER_BYTES = 3
const NULL_LENGTH = -1
const SHORT = 48
const LAST_ASCII = 0x7f
const EPOCH_MS = Date.UTC(2000, 0, 1)
const DAY_MS = 86_400_000

/** Columns are built here and copied out: their length is known only at the end. */
let scratch = Buffer.alloc(1 << 16)
let view = viewOf(scratch)
let at = 0

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

function begin(type: keyof typeof OID, count: number): void {
  at = 0
  writeInt(count === 0 ? 0 : 1)
  writeInt(0)
  writeInt(OID[type])
  writeInt(count)
  writeInt(1)
}

function writeInt(value: number): void {
  view.setInt32(at, value)
  at += INT_BYTES
}

function reserve(bytes: number): void {
  if (at + bytes <= scratch.length) return
  const wider = Buffer.alloc(Math.max(scratch.length * 2, at + bytes))
  scratch.copy(wider, 0, 0, at)
  scratch = wider
  view = viewOf(wider)
}

function writeNull(): void {
  reserve(INT_BYTES)
  // The flag that there are nulls at all.
  view.setInt32(INT_BYTES, 1)
  writeInt(NULL_LENGTH)
}

/** An array without elements has no dimensions either. */
function end(count: number): Buffer {
  return Buffer.from(scratch.subarray(0, count === 0 ? EMPTY_BYTES : at))
}

function column<Row, Value>(
  type: keyof typeof OID,
  { rows, of, write }: { rows: readonly Row[]; of: Of<Row, Value>; write(value: Value): void },
): Buffer {
  begin(type, rows.length)
  for (const row of rows) {
    const value = of(row)
    if (value === null || value === undefined) writeNull()
    else write(value)
  }
  return end(rows.length)
}

export function texts<Row>(rows: readonly Row[], of: Of<Row, string>): Buffer {
  return column('text', { rows, of, write: writeText })
}

function writeText(value: string): void {
  reserve(INT_BYTES + value.length * CHARACTER_BYTES)
  const bytes = value.length <= SHORT ? writeShort(value) : scratch.write(value, at + INT_BYTES)
  view.setInt32(at, bytes)
  at += INT_BYTES + bytes
}

/** Most values are a few plain letters, and calling out of JavaScript costs more than those. */
function writeShort(value: string): number {
  const start = at + INT_BYTES
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index)
    if (code > LAST_ASCII) return scratch.write(value, start)
    scratch[start + index] = code
  }
  return value.length
}

export function bigints<Row>(rows: readonly Row[], of: Of<Row, bigint>): Buffer {
  return column('bigint', { rows, of, write: writeBigint })
}

function writeBigint(value: bigint): void {
  reserve(INT_BYTES + WORD_BYTES)
  writeInt(WORD_BYTES)
  view.setBigInt64(at, value)
  at += WORD_BYTES
}

export function booleans<Row>(rows: readonly Row[], of: Of<Row, boolean>): Buffer {
  return column('boolean', { rows, of, write: writeBoolean })
}

function writeBoolean(value: boolean): void {
  reserve(INT_BYTES + 1)
  writeInt(1)
  scratch[at] = value ? 1 : 0
  at += 1
}

export function moments<Row>(rows: readonly Row[], of: Of<Row, Date>): Buffer {
  return column('timestamptz', { rows, of, write: writeMoment })
}

/** Microseconds since the year 2000: too many for 32 bits, few enough for a number. */
function writeMoment(value: Date): void {
  reserve(INT_BYTES + WORD_BYTES)
  const micros = (value.getTime() - EPOCH_MS) * 1_000
  writeInt(WORD_BYTES)
  writeInt(Math.floor(micros / 2 ** 32))
  view.setUint32(at, micros >>> 0)
  at += INT_BYTES
}

/** Days as YYYY-MM-DD. */
export function days<Row>(rows: readonly Row[], of: Of<Row, string>): Buffer {
  return column('date', { rows, of, write: writeDay })
}

function writeDay(value: string): void {
  reserve(INT_BYTES * 2)
  writeInt(INT_BYTES)
  writeInt((Date.parse(value) - EPOCH_MS) / DAY_MS)
}

export function byteses<Row>(rows: readonly Row[], of: Of<Row, Uint8Array>): Buffer {
  return column('bytea', { rows, of, write: writeBytes })
}

function writeBytes(value: Uint8Array): void {
  reserve(INT_BYTES + value.length)
  writeInt(value.length)
  scratch.set(value, at)
  at += value.length
}

const writers = {
  boolean: booleans,
  bytea: byteses,
  bigint: bigints,
  text: texts,
  date: days,
  timestamptz: moments,
}

export type Column<Row> =
  | readonly ['text' | 'date', Of<Row, string>]
  | readonly ['bigint', Of<Row, bigint>]
  | readonly ['boolean', Of<Row, boolean>]
  | readonly ['bytea', Of<Row, Uint8Array>]
  | readonly ['timestamptz', Of<Row, Date>]

/** Rows to be inserted: the names of their columns, what selects them, and its parameters. */
export type RowSet<Row> = {
  names: string
  select: string
  params(rows: readonly Row[]): Buffer[]
}

/**
 * Columns by name, each with its type and its value. Its arrays are unnested side by side in the
 * select and not in the from: there each would be laid down in a table of its own first.
 */
export function rowSet<Row>(
  columns: Readonly<Record<string, Column<Row>>>,
  first = 1,
): RowSet<Row> {
  const all = Object.values(columns)
  return {
    names: Object.keys(columns).join(', '),
    select: all.map(([type], at) => `unnest($${at + first}::${type}[])`).join(', '),
    params: (rows) => all.map(([type, of]) => writers[type](rows, of as never)),
  }
}
