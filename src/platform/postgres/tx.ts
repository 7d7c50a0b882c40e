import type pg from 'pg'
import type { StatementResult } from './pipeline.ts'
import { prepared } from './statement.ts'
import type { Write } from './write.ts'

/** Statements in a transaction, or single statements on a pool. */
export type Tx = {
  rows<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
  /** Returns the number of affected rows. */
  run(sql: string, params?: readonly unknown[]): Promise<number>
  /** Returns the number of affected rows; for a COPY, of added rows. */
  write(write: Write): Promise<number>
}

/**
 * Sends the writes and the COMMIT in one round trip, without waiting for results in between: if one
 * fails, the server rolls back all of them. No statement may follow it.
 */
export type CommitWith = (writes: readonly Write[]) => Promise<void>

/** Sends a statement and resolves with its result. */
export type Execute = (statement: pg.QueryConfig, data?: Buffer) => Promise<StatementResult>

export function makeTx(execute: Execute, send: Send): Tx {
  return {
    rows: async (sql, params = []) => (await execute(prepared(sql, params))).rows,
    run: async (sql, params = []) => (await execute(prepared(sql, params))).rowCount ?? 0,
    write: async (write) => (await send(execute, write)).rowCount ?? 0,
  }
}

/** Sends a write with COPY or as an insert, depending on the connection's role. */
export type Send = (execute: Execute, write: Write) => Promise<StatementResult>

export const sendCopied: Send = (execute, { statement, copied }) => execute(statement, copied?.data)

export const sendInserted: Send = (execute, { statement, copied }) =>
  execute(copied === undefined ? statement : copied.asInsert())
