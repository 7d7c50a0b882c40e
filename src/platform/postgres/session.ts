import type pg from 'pg'
import { openPool } from './connection_pool.ts'
import { schemaOf } from './schema.ts'
import { sendAlone } from './send_statement.ts'
import { makeTx, sendInserted, type Tx } from './tx.ts'

/** One connection as the login. Its statements may take as long as they need. */
export type Session = Tx & {
  /** Null for the default one. */
  schema: string | null
  close(): Promise<void>
}

export async function openSession(url: string): Promise<Session> {
  const client = await openPool(() => url, {}).connectOutsidePool()
  return { ...txOn(client), schema: schemaOf(url), close: () => client.end() }
}

/** Statements on a connection that the caller has, one after another. */
export const txOn = (client: pg.ClientBase): Tx =>
  makeTx((statement) => sendAlone(client, statement), sendInserted)
