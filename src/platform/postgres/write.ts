import type pg from 'pg'
import { prepared, preparedWithCount } from './statement.ts'

/**
 * A statement that writes, with its parameters already encoded. Building one may throw and sending
 * one cannot, so a set of writes reaches the server completely or not at all.
 */
export type Write = { statement: pg.QueryConfig; copied?: CopiedRows }

/** The data of a COPY, and an insert of the same rows for roles that cannot COPY. */
export type CopiedRows = { data: Buffer; asInsert(): pg.QueryConfig }

/** Values that the driver sends without conversion. */
type EncodedValue = Buffer | string | number | bigint | Date | null

/** Changes exactly `count` rows, or fails with ConcurrentUpdate. */
export function countedWrite(count: number, sql: string, params: readonly EncodedValue[]): Write {
  return { statement: preparedWithCount(sql, params, count) }
}

export function plainWrite(sql: string, params: readonly EncodedValue[]): Write {
  return { statement: prepared(sql, params) }
}

/** A COPY with its rows in binary format. */
export function copyWrite(sql: string, copied: CopiedRows): Write {
  return { statement: prepared(sql, []), copied }
}
