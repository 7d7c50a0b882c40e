import { notFound } from '#contract/common_problems.ts'
import { move } from '#domain/ledger/move.ts'
import type { Move } from '#domain/ledger/post.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import type { Settings } from '#settings/settings.ts'
import { findTransfers } from './chain_store.ts'
import { isBelowMinimum, sumTowardsMinimum, withTransfers } from './deposits.ts'
import type { HeldDepositRow } from './suspense_store.ts'
import { type TopupRow, topupReference } from './topup.ts'
import { updateTopup } from './topup_store.ts'

/** Recomputes a top-up from its transfers and stores it. */
export async function refreshTopup(
  tx: Tx,
  topup: TopupRow,
  { settings, now }: { settings: Settings; now: Date },
): Promise<TopupRow> {
  const chain = chainsOf(settings.chains).get(topup.chain)
  const changed = withTransfers(topup, {
    final_transfers: await findTransfers(tx, topup.account_id, topup.id),
    pending: topup.pending,
    showTxid: (txid) => chain?.showTxid(txid) ?? txid,
  })
  return updateTopup(tx, changed, now)
}

type HeldDeposit = Pick<HeldDepositRow, 'id' | 'account_id' | 'topup_id' | 'txid' | 'value_micros'>

/** The deposits below the minimum that are credited with this one, if their sum reaches it. */
export async function findReleasedWith(
  tx: Tx,
  deposit: HeldDeposit,
  minimum_micros: Micros,
): Promise<HeldDeposit[]> {
  const { account_id, topup_id } = deposit
  const transfers = await findTransfers(tx, account_id, topup_id)
  const others = transfers.filter(({ movement_id }) => movement_id !== deposit.id)
  if (sumTowardsMinimum(others) + deposit.value_micros < minimum_micros) return []
  return others
    .filter(isBelowMinimum)
    .map(({ movement_id: id, ...transfer }) => ({ ...transfer, id, account_id, topup_id }))
}

type SuspenseMove = { deposit: HeldDeposit; step: Pick<Move, 'movement' | 'from' | 'to'> }

/** Returns the id of the movement. */
export async function moveOutOfSuspense(
  tx: Tx,
  stamp: Parameters<typeof move>[2],
  { deposit, step }: SuspenseMove,
): Promise<string> {
  const moved = await move(
    tx,
    {
      ...step,
      account_id: deposit.account_id,
      amount_micros: deposit.value_micros,
      reference: topupReference(deposit.topup_id),
      description: `Held deposit ${deposit.txid}`,
    },
    stamp,
  )
  return moved.id
}

export function requireHeld(row: HeldDepositRow | undefined): HeldDepositRow {
  if (row === undefined) throw notFound('deposit in suspense')
  return row
}
