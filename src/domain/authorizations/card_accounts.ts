import { texts } from '#platform/columns.ts'
import type { Database, Tx } from '#platform/db.ts'
import { gather } from '#platform/lanes.ts'

/** The account of each card number, remembered: a card never changes its account. */
export type CardAccounts = {
  known(pan_hash: string): string | undefined
  /** Undefined where the number is nobody's, or where the database does not answer. */
  find(pan_hash: string): Promise<string | undefined>
}

/** Some 10 MB at the most. */
const REMEMBERED_MAX = 50_000

export function makeCardAccounts(db: Database): CardAccounts {
  const accounts = new Map<string, string>()
  return {
    known: (pan_hash) => accounts.get(pan_hash),
    find: async (pan_hash) => {
      const row = await gather(db, findAccounts, pan_hash).catch(() => undefined)
      if (row === undefined) return undefined
      accounts.set(pan_hash, row.account_id)
      const [oldest] = accounts.keys()
      if (accounts.size > REMEMBERED_MAX && oldest !== undefined) accounts.delete(oldest)
      return row.account_id
    },
  }
}

function findAccounts(tx: Tx, pan_hashes: readonly string[]) {
  return tx.rows<{ id: string; account_id: string }>(
    'select pan_hash as id, account_id from cards where pan_hash = any($1)',
    [texts(pan_hashes, (hash) => hash)],
  )
}
