import type pg from 'pg'
import { counted, named } from './statement.ts'

/** What can be asked inside a transaction, or of the database as single statements. */
export type Tx = {
  rows<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
  /** How many rows the statement touched. */
  run(sql: string, params?: readonly unknown[]): Promise<number>
  /** Changes exactly so many rows, or fails with ChangedMeanwhile and undoes all of the work. */
  change(count: number, sql: string, params: readonly unknown[]): Promise<void>
  /** How many rows a COPY has added; its data in the form that it names. */
  copy(sql: string, data: Buffer): Promise<number>
}

/**
 * Sends the commit behind what was asked so far, without waiting for the answers: where one of
 * these statements fails, the server undoes all of them. Nothing may be asked after it.
 */
export type CommitBehind = () => void

type Ask = (statement: pg.QueryConfig, data?: Buffer) => Promise<pg.QueryResult>

export function asking(ask: Ask): Tx {
  return {
    rows: async (sql, params = []) => (await ask(named(sql, params))).rows,
    run: async (sql, params = []) => (await ask(named(sql, params))).rowCount ?? 0,
    change: async (count, sql, params) => void (await ask(counted(sql, params, count))),
    copy: async (sql, data) => (await ask(named(sql, []), data)).rowCount ?? 0,
  }
}
