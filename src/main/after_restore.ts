import { listEmails } from '#domain/accounts/account_store.ts'
import { listReservedEmails } from '#domain/credentials/security_undo.ts'
import { relistEmails } from '#domain/directory/email_directory.ts'
import { pauseRails } from '#domain/risk/kill_switch_store.ts'
import { findCursors } from '#domain/topups/chain_store.ts'
import { skipAddressIndexes } from '#domain/topups/topup_store.ts'
import { INDEXES_PER_CELL } from '#kernel/cell.ts'
import type { Database } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'

/** Far more addresses than are given out between a backup and the failure. */
const SKIPPED_ADDRESSES = 1_000_000

/**
 * Purchases and withdrawals after the backup are missing, so balances are too high. Top-ups stay
 * open: the chain is read again, and its deposits are credited.
 */
const PAUSED = ['withdrawals', 'issuing', 'authorizations'] as const

export type RestoredState = {
  next_address_index: number
  chains: { chain: string; block: bigint }[]
}

/**
 * Prepares a restored database for its first start. Addresses given out after the backup must never
 * be given to another account, and nothing is paid until an operator has compared the books with
 * the outside.
 */
export function prepareRestored(db: Database, cell = 0): Promise<RestoredState> {
  return db.transaction(async (tx) => {
    const now = systemClock().now()
    await pauseRails(tx, PAUSED, { reason: 'restored from a backup', now })
    const next_index = await skipAddressIndexes(tx, SKIPPED_ADDRESSES)
    const cursors = await findCursors(tx)
    return {
      next_address_index: cell * INDEXES_PER_CELL + next_index,
      chains: cursors.map(({ chain, finalized_number: block }) => ({ chain, block })),
    }
  })
}

const EMAILS_PER_STEP = 10_000

/**
 * A restored directory lacks the accounts that were opened in other cells since its backup: they
 * could not sign in, and their emails, with those that undo links restore, would be free. Returns
 * the number of emails it lists again.
 */
export async function restoreDirectory(
  home: Database,
  others: readonly { cell: number; db: Database }[],
): Promise<number> {
  const now = systemClock().now()
  let listed = 0
  for (const { cell, db } of others) {
    for (let after = ''; ; ) {
      const accounts = await listEmails(db, after, EMAILS_PER_STEP)
      const last = accounts.at(-1)
      if (last === undefined) break
      after = last.id
      const emails = accounts.map(({ email }) => email)
      listed += await relistEmails(home, emails, { cell, now })
    }
    listed += await relistEmails(home, await listReservedEmails(db, now), { cell, now })
  }
  return listed
}
