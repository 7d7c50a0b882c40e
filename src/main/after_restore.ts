import { pauseRails } from '#domain/risk/kill_switch_store.ts'
import { findCursors } from '#domain/topups/chain_store.ts'
import { skipAddressIndexes } from '#domain/topups/topup_store.ts'
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
export function prepareRestored(db: Database): Promise<RestoredState> {
  return db.transaction(async (tx) => {
    const now = systemClock().now()
    await pauseRails(tx, PAUSED, { reason: 'restored from a backup', now })
    const next_address_index = await skipAddressIndexes(tx, SKIPPED_ADDRESSES)
    const cursors = await findCursors(tx)
    return {
      next_address_index,
      chains: cursors.map(({ chain, finalized_number: block }) => ({ chain, block })),
    }
  })
}
