import {
  encode,
  writeArray,
  writeBigint,
  writeDay,
  writeInt,
  writeText,
  writeTimestamp,
} from './binary_values.ts'

/** Columns of rows that are looked up or changed: each an array, for unnest and any. */
type Of<Row, Value> = (row: Row) => Value | null | undefined

export function texts<Row>(rows: readonly Row[], of: Of<Row, string>): Buffer {
  return encode(() => writeArray('text', rows.map(of), writeText))
}

export function bigints<Row>(rows: readonly Row[], of: Of<Row, bigint>): Buffer {
  return encode(() => writeArray('bigint', rows.map(of), writeBigint))
}

export function ints<Row>(rows: readonly Row[], of: Of<Row, number>): Buffer {
  return encode(() => writeArray('int', rows.map(of), writeInt))
}

export function timestamps<Row>(rows: readonly Row[], of: Of<Row, Date>): Buffer {
  return encode(() => writeArray('timestamptz', rows.map(of), writeTimestamp))
}

/** Days as YYYY-MM-DD. */
export function days<Row>(rows: readonly Row[], of: Of<Row, string>): Buffer {
  return encode(() => writeArray('date', rows.map(of), writeDay))
}
