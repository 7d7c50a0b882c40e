import type pg from 'pg'
import { prepared } from './statement.ts'
import type { Write } from './write.ts'

/** What can be asked inside a transaction, or of the database as single statements. */
export type Tx = {
  rows<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
  /** How many rows the statement touched. */
  run(sql: string, params?: readonly unknown[]): Promise<number>
  /** How many rows the write touched; a COPY says how many it added. */
  write(write: Write): Promise<number>
}

/**
 * Sends the writes and the COMMIT in one round trip, without waiting for the answers in between:
 * if one of them fails, the server rolls back all of them. Nothing may be asked after it.
 */
export type CommitWith = (writes: readonly Write[]) => Promise<void>

export type Ask = (statement: pg.QueryConfig, data?: Buffer) => Promise<pg.QueryResult>

export function makeTx(ask: Ask, send: Send): Tx {
  return {
    rows: async (sql, params = []) => (await ask(prepared(sql, params))).rows,
    run: async (sql, params = []) => (await ask(prepared(sql, params))).rowCount ?? 0,
    write: async (write) => (await send(ask, write)).rowCount ?? 0,
  }
}

/** How a connection's role sends a write. */
export type Send = (ask: Ask, write: Write) => Promise<pg.QueryResult>

export const sendCopied: Send = (ask, { statement, copied }) => ask(statement, copied?.data)

export const sendInserted: Send = (ask, { statement, copied }) =>
  ask(copied === undefined ? statement : copied.asInsert())
