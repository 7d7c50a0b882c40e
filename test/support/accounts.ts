import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import { insertAccount } from '#domain/accounts/account_store.ts'
import { idMaker } from '#kernel/id.ts'
import type { Database } from '#platform/postgres/db.ts'
import { systemRandom } from '#platform/runtime/random.ts'

const makeId = idMaker(systemRandom.bytes)

/** Inserts an account directly, for tests below the operations. */
export async function insertBareAccount(db: Database): Promise<string> {
  const id = makeId('acct', Date.now())
  await db.transaction((tx) =>
    insertAccount(tx, {
      id,
      email: `${id}@example.com`,
      password_hash: 'none',
      notifications: STANDARD_NOTIFICATIONS,
      now: new Date(),
    }),
  )
  return id
}
