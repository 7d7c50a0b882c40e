import { openDatabase } from '#platform/postgres/db.ts'
import { withLease } from '#platform/postgres/lease.ts'
import { ConfigError } from '#platform/settings/environment.ts'

const SHARED_DATABASE =
  'Another sandbox uses this database. Each sandbox has its own chain, so two cannot share one: ' +
  'stop the other one, or set FLORIN_DATABASE_URL to another database. Several nodes on one ' +
  'database need FLORIN_MODE=live (see docs/scaling.md).'

/**
 * Keeps other sandboxes off the database: with a chain of its own, each would credit and pay what
 * the other's chain does not have. Resolves with a function that ends the claim.
 */
export async function claimDatabase(url: string): Promise<() => Promise<void>> {
  const db = openDatabase(url, { pool_size: 1 })
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let lease: Promise<unknown> = Promise.resolve()
  const isClaimed = await new Promise<boolean>((resolve, reject) => {
    const hold = async () => {
      resolve(true)
      await ended
    }
    lease = withLease(db, 'sandbox', hold).then(resolve, reject)
  }).catch(async (cause: unknown) => {
    await db.close()
    throw cause
  })
  const release = async () => {
    end()
    await lease
    await db.close()
  }
  if (isClaimed) return release
  await release()
  throw new ConfigError(SHARED_DATABASE)
}
