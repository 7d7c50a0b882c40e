import type { Database } from './db.ts'

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

/** Runs reads that all see the same state, on a connection of their own. */
export async function withSnapshot<Value>(
  db: Database,
  { statement_ms, by_index = false }: SnapshotOptions,
  read: (reader: SnapshotReader) => Promise<Value>,
): Promise<Value> {
  return db.connection(async (client) => {
    const timeout = `set local statement_timeout = ${statement_ms}`
    const settings = by_index ? [timeout, ...BY_INDEX] : [timeout]
    await client.query('begin isolation level repeatable read read only')
    try {
      for (const setting of settings) await client.query(setting)
      return await read({
        rows: async (sql, params = []) => (await client.query(sql, [...params])).rows,
      })
    } finally {
      await client.query('rollback')
    }
  })
}
