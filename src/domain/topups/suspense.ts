import { notFound } from '#contract/common_problems.ts'
import type { Topup } from '#contract/topups.ts'
import { type Move, move } from '#domain/ledger/post.ts'
import { suspense, treasury } from '#domain/ledger/purse.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { formatUsd, usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { PageInput, PageOf } from '#platform/postgres/page.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import type { Settings } from '#settings/settings.ts'
import { findTransfers, resolveTransfer } from './chain_store.ts'
import { withOutcome, withTransfers } from './deposits.ts'
import { findHeld, type HeldDepositRow, pageOfHeld } from './suspense_store.ts'
import { makeTopupView, type TopupRow, topupReference } from './topup.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

/** A deposit in suspense: received but not credited. Its id is the id of its movement. */
export type HeldDeposit = {
  id: string
  account_id: string
  topup_id: string
  chain: string
  txid: string
  from_address: string
  amount_usd: number
  reason: string
  created_at: string
}

export async function findSuspense(
  { tx, settings }: OperatorContext,
  input: PageInput,
): Promise<PageOf<HeldDeposit>> {
  const page = await pageOfHeld(tx, input)
  const chains = chainsOf(settings.chains)
  const data = page.data.map((row) => {
    const chain = chains.get(row.chain)
    return {
      id: row.id,
      account_id: row.account_id,
      topup_id: row.topup_id,
      chain: row.chain,
      txid: chain?.showTxid(row.txid) ?? row.txid,
      from_address: chain?.showAddress(row.from_address) ?? row.from_address,
      amount_usd: usdFromMicros(row.value_micros),
      reason: row.held_reason,
      created_at: row.created_at.toISOString(),
    }
  })
  return { ...page, data }
}

/** Credits a held deposit, under the lock of its top-up like every change of its transfers. */
export async function releaseSuspense(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Topup> {
  const { tx, settings, now, newId } = context
  await requireRailOpen(tx, 'topups')
  const found = requireHeld(await findHeld(tx, id))
  const topup = await lockTopupOf(tx, found.account_id, found.topup_id)
  const deposit = requireHeld(await findHeld(tx, id))
  const step = { movement: 'suspense_released', from: suspense, to: treasury } as const
  const movement_id = await moveOutOfSuspense(tx, { now, newId }, { deposit, step })
  await resolveTransfer(tx, id, { state: 'released', movement_id })

  const stored = await refreshTopup(tx, withOutcome(topup, null, now), context)
  const resource = topupReference(topup.id)
  const view = makeTopupView(settings)(stored)
  context.emit(topup.account_id, {
    type: 'topup.confirmed',
    message: `${formatUsd(deposit.value_micros)} deposit credited after review.`,
    resource,
    object: view,
    amount_micros: deposit.value_micros,
  })
  context.audit(topup.account_id, { action: 'release_suspense', resource })
  return view
}

/** Recomputes a top-up from its transfers and stores it. */
export async function refreshTopup(
  tx: Tx,
  topup: TopupRow,
  { settings, now }: { settings: Settings; now: Date },
): Promise<TopupRow> {
  const chain = chainsOf(settings.chains).get(topup.chain)
  const changed = withTransfers(topup, {
    finals: await findTransfers(tx, topup.account_id, topup.id),
    pending: topup.pending,
    showTxid: (txid) => chain?.showTxid(txid) ?? txid,
  })
  return updateTopup(tx, changed, now)
}

type SuspenseMove = { deposit: HeldDepositRow; step: Pick<Move, 'movement' | 'from' | 'to'> }

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
