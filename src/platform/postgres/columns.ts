import {
  encode,
  writeArray,
  writeBigint,
  writeDay,
  writeInt,
  writeText,
  writeTimestamp,
} from './binary_values.ts'

type Getter<Row, Value> = (row: Row) => Value | null | undefined

/** Each function encodes one column of the rows as an array parameter, for unnest and any. */
export function texts<Row>(rows: readonly Row[], get: Getter<Row, string>): Buffer {
  return encode(() => writeArray('text', rows.map(get), writeText))
}

export function bigints<Row>(rows: readonly Row[], get: Getter<Row, bigint>): Buffer {
  return encode(() => writeArray('bigint', rows.map(get), writeBigint))
}

export function ints<Row>(rows: readonly Row[], get: Getter<Row, number>): Buffer {
  return encode(() => writeArray('int', rows.map(get), writeInt))
}

export function timestamps<Row>(rows: readonly Row[], get: Getter<Row, Date>): Buffer {
  return encode(() => writeArray('timestamptz', rows.map(get), writeTimestamp))
}

/** Days as YYYY-MM-DD. */
export function days<Row>(rows: readonly Row[], get: Getter<Row, string>): Buffer {
  return encode(() => writeArray('date', rows.map(get), writeDay))
}
