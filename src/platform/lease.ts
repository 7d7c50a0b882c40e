import type { Database } from './db.ts'

/**
 * Does the work if no other node is doing work of this name, and not at all otherwise. The lease is
 * a lock of the database session: it ends with the work, or with the node. Two nodes may still
 * overlap for a moment when a connection dies, so what is written under a lease must be safe to
 * write twice; the lease saves the effort, it does not carry the proof.
 */
export async function withLease(
  db: Database,
  name: string,
  work: () => Promise<void>,
): Promise<boolean> {
  return db.connection(async (client) => {
    const key = [`florin:${name}`]
    const { rows } = await client.query<{ is_ours: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_ours',
      key,
    )
    if (rows[0]?.is_ours !== true) return false
    try {
      await work()
      return true
    } finally {
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', key)
    }
  })
}
