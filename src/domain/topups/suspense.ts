import { Problem } from '#contract/problem.ts'
import type { Topup } from '#contract/topups.ts'
import { requireRailOpen } from '#domain/access/kill_switch.ts'
import type { OperatorContext } from '#domain/access/operator.ts'
import { type Move, move } from '#domain/ledger/post.ts'
import { chain as chain_purse, suspense, treasury } from '#domain/ledger/purse.ts'
import { decimalFromMicros, usdFromMicros } from '#kernel/money.ts'
import type { NewEvent } from '#platform/context.ts'
import type { PageInput, PageOf } from '#platform/page.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { resolveTransfer, transfersOf } from './chain_store.ts'
import { settled, withTransfers } from './deposits.ts'
import { findHeld, type HeldDepositRow, pageOfHeld } from './suspense_store.ts'
import { type TopupRow, topupReference, viewIn } from './topup.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

/** A deposit that is ours to keep and not yet the account's. Its id is that of its movement. */
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

/** Credits it after all. */
export async function releaseSuspense(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Topup> {
  await requireRailOpen(context.tx, 'topups')
  return resolve(context, id, {
    act: 'release_suspense',
    state: 'released',
    step: { movement: 'suspense_released', from: suspense, to: treasury },
    topup: (topup) => settled(topup, null, context.now),
    event: (amount) => ({
      type: 'topup.confirmed',
      message: `A deposit of ${amount} USD that was held has been credited.`,
    }),
  })
}

/** Notes that it goes back. The transfer itself is the operator's: our signer pays nobody else. */
export async function refundSuspense(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Topup> {
  return resolve(context, id, {
    act: 'refund_suspense',
    state: 'refunded',
    step: { movement: 'suspense_refunded', from: suspense, to: chain_purse },
    topup: (topup) =>
      topup.resting_status === 'error' ? { ...topup, resting_reason: 'refunded' } : topup,
    event: (amount) => ({
      type: 'topup.error',
      message: `A deposit of ${amount} USD that was held goes back to its sender.`,
      severity: 'warning',
    }),
  })
}

type Resolution = {
  act: string
  state: 'released' | 'refunded'
  step: Pick<Move, 'movement' | 'from' | 'to'>
  topup(topup: TopupRow): TopupRow
  event(amount: string): Pick<NewEvent, 'type' | 'message' | 'severity'>
}

/** Under the top-up's lock, like everything that happens to its transfers. */
async function resolve(
  context: OperatorContext,
  id: string,
  resolution: Resolution,
): Promise<Topup> {
  const { tx, settings, now } = context
  const held = requireHeld(await findHeld(tx, id))
  const topup = await lockTopupOf(tx, held.account_id, held.topup_id)
  const deposit = requireHeld(await findHeld(tx, id))
  const movement_id = await moveHeld(context, deposit, resolution.step)
  await resolveTransfer(tx, id, { state: resolution.state, movement_id })

  const chain = chainsOf(settings.chains).get(topup.chain)
  const changed = withTransfers(resolution.topup(topup), {
    finals: await transfersOf(tx, topup.account_id, topup.id),
    pending: topup.pending,
    showTxid: (txid) => chain?.showTxid(txid) ?? txid,
  })
  const view = viewIn(settings)(await updateTopup(tx, changed, now))
  const resource = topupReference(topup.id)
  context.emit(topup.account_id, {
    ...resolution.event(decimalFromMicros(deposit.value_micros)),
    resource,
    object: view,
    amount_micros: deposit.value_micros,
  })
  context.audit(topup.account_id, { action: resolution.act, resource })
  return view
}

async function moveHeld(
  { tx, now, newId }: OperatorContext,
  deposit: HeldDepositRow,
  step: Resolution['step'],
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
    { now, newId },
  )
  return moved.id
}

function requireHeld(row: HeldDepositRow | undefined): HeldDepositRow {
  if (row === undefined) throw new Problem('not_found', 'There is no such deposit in suspense.')
  return row
}
