import type pg from 'pg'
import { counted, named } from './statement.ts'

/**
 * A statement that changes something, with its parameters already encoded. Building one may throw;
 * sending one cannot, so a set of writes that was built reaches the server whole or not at all.
 */
export type Write = { statement: pg.QueryConfig; copied?: CopiedRows }

/** The data of a COPY, and the statement that inserts the same rows where COPY does not work. */
export type CopiedRows = { data: Buffer; asInsert(): pg.QueryConfig }

/** Values that the driver sends without converting them first. */
type Encoded = Buffer | string | number | bigint | Date | null

/** Changes exactly `count` rows; otherwise the statement fails with ChangedMeanwhile. */
export function changing(count: number, sql: string, params: readonly Encoded[]): Write {
  return { statement: counted(sql, params, count) }
}

export function running(sql: string, params: readonly Encoded[]): Write {
  return { statement: named(sql, params) }
}

/** A COPY with its rows in binary form. */
export function copying(sql: string, copied: CopiedRows): Write {
  return { statement: named(sql, []), copied }
}
