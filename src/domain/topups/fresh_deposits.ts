import type { Database } from '#platform/postgres/db.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { findRecordedKeys } from './chain_store.ts'
import { type OwnedDeposit, type ScreenedDeposit, transferKey } from './deposits.ts'
import type { TopupDependencies } from './topup_dependencies.ts'

/** The deposits that are not recorded yet. */
export async function findFresh(
  db: Database,
  chain: Chain,
  deposits: readonly OwnedDeposit[],
): Promise<OwnedDeposit[]> {
  const txids = deposits.map(({ txid }) => txid)
  const recorded = await findRecordedKeys(db, chain.name, txids)
  return deposits.filter((deposit) => !recorded.has(transferKey(deposit)))
}

/**
 * Screens the senders of deposits, outside any transaction. If screening is unavailable, they are
 * not credited: the task fails and its next run tries again.
 */
export async function screenDeposits(
  { screener }: TopupDependencies,
  chain: Chain,
  deposits: readonly OwnedDeposit[],
): Promise<ScreenedDeposit[]> {
  const screened: ScreenedDeposit[] = []
  for (const deposit of deposits) {
    const screening = await screener.screen({
      chain: chain.name,
      address: chain.showAddress(deposit.from),
      direction: 'in',
      amount_micros: deposit.value,
    })
    screened.push({ ...deposit, screening })
  }
  return screened
}
