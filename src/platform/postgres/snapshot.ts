import type { Database } from './db.ts'
import { sendStatement } from './send_statement.ts'

const NO_TIMEOUT = 0

/** Reads of one snapshot. */
export type SnapshotReader = {
  rows<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
}

type SnapshotOptions = {
  statement_ms: number
  /** Statements use an index wherever there is one, even while statistics are missing. */
  by_index?: boolean
}

const BY_INDEX = [
  'set local enable_seqscan = off',
  'set local plan_cache_mode = force_custom_plan',
  'set local jit = off',
]

/**
 * Runs reads that all see the same state, on a connection of their own. Reads that are started
 * together are sent together. Long ones are ended by the server's limit only.
 */
export async function withSnapshot<Value>(
  db: Database,
  { statement_ms, by_index = false }: SnapshotOptions,
  read: (reader: SnapshotReader) => Promise<Value>,
): Promise<Value> {
  return db.connection(async (client) => {
    const send = (text: string, values: readonly unknown[] = []) =>
      sendStatement(client, { text, values: [...values] }, undefined, NO_TIMEOUT)
    const first = [
      'begin isolation level repeatable read read only',
      `set local statement_timeout = ${statement_ms}`,
      ...(by_index ? BY_INDEX : []),
    ]
    await Promise.all(first.map((text) => send(text)))
    const value = await read({ rows: async (sql, params) => (await send(sql, params)).rows })
    // After an error, the connection is closed.
    await send('rollback')
    return value
  })
}
