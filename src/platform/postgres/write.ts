import type pg from 'pg'
import { prepared, preparedWithCount } from './statement.ts'

/**
 * A statement that changes something, with its parameters already encoded. Building one may throw;
 * sending one cannot, so a set of writes that was built reaches the server whole or not at all.
 */
export type Write = { statement: pg.QueryConfig; copied?: CopiedRows }

/** The data of a COPY, and the statement that inserts the same rows where COPY does not work. */
export type CopiedRows = { data: Buffer; asInsert(): pg.QueryConfig }

/** Values that the driver sends without converting them first. */
type Encoded = Buffer | string | number | bigint | Date | null

/** Changes exactly `count` rows; otherwise the statement fails with ConcurrentUpdate. */
export function countedWrite(count: number, sql: string, params: readonly Encoded[]): Write {
  return { statement: preparedWithCount(sql, params, count) }
}

export function plainWrite(sql: string, params: readonly Encoded[]): Write {
  return { statement: prepared(sql, params) }
}

/** A COPY with its rows in binary form. */
export function copyWrite(sql: string, copied: CopiedRows): Write {
  return { statement: prepared(sql, []), copied }
}
