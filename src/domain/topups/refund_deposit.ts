import type { Topup } from '#contract/topups.ts'
import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { chain as chain_purse, suspense } from '#domain/ledger/purse.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { assert } from '#kernel/assert.ts'
import { dollarsFromMicros, formatUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { resolveTransfer, setTransferState } from './chain_store.ts'
import { moveOutOfSuspense, requireHeld, refreshTopup } from './suspense.ts'
import { findHeld, findRefunding, type HeldDepositRow } from './suspense_store.ts'
import { type TopupRow, topupReference, makeTopupView } from './topup.ts'
import { lockTopupOf } from './topup_store.ts'

/**
 * A held deposit on its way back to its sender. It leaves suspense when the transfer is final, and
 * waits there for a person again if the transfer comes to nothing.
 */
export async function beginRefund(
  context: OperatorContext,
  id: string,
): Promise<{ deposit: HeldDepositRow; topup: Topup }> {
  const { tx } = context
  const found = requireHeld(await findHeld(tx, id))
  const topup = await lockTopupOf(tx, found.account_id, found.topup_id)
  const deposit = requireHeld(await findHeld(tx, id))
  await setTransferState(tx, id, { from: 'held', to: 'refunding' })
  const stored = await refreshTopup(context, tx, withReason(topup, 'refunded'))
  const resource = topupReference(topup.id)
  context.emit(topup.account_id, {
    ...eventOf(context, stored, deposit),
    message: `${formatUsd(deposit.value_micros)} deposit is being returned to its sender.`,
    severity: 'warning',
  })
  context.audit(topup.account_id, { action: 'refund_suspense', resource })
  return { deposit, topup: makeTopupView(context.settings)(stored) }
}

type Parts = Pick<Dependencies, 'clock' | 'newId' | 'settings'>

/** It has arrived for good. */
export async function finishRefund(tx: Tx, parts: Parts, id: string): Promise<void> {
  const { deposit, topup } = await lockRefunding(tx, id)
  const now = parts.clock.now()
  const step = { movement: 'suspense_refunded', from: suspense, to: chain_purse } as const
  const movement_id = await moveOutOfSuspense(tx, { now, newId: parts.newId }, { deposit, step })
  await resolveTransfer(tx, id, { state: 'refunded', movement_id })
  await refreshTopup({ ...parts, now }, tx, topup)
}

/** Nothing has left, and nothing can any more: a person has to decide about it again. */
export async function abandonRefund(tx: Tx, parts: Parts, id: string): Promise<void> {
  const { deposit, topup } = await lockRefunding(tx, id)
  await setTransferState(tx, id, { from: 'refunding', to: 'held' })
  const now = parts.clock.now()
  const stored = await refreshTopup({ ...parts, now }, tx, withReason(topup, deposit.held_reason))
  const amount = dollarsFromMicros(deposit.value_micros)
  const event = {
    ...eventOf(parts, stored, deposit),
    message: `${amount} deposit could not be returned and is on hold.`,
    severity: 'error' as const,
  }
  await emitAsSystem(tx, parts, topup.account_id, { events: [event] })
}

async function lockRefunding(tx: Tx, id: string) {
  const found = await findRefunding(tx, id)
  assert(found !== undefined, 'a refund under way has its deposit')
  return { deposit: found, topup: await lockTopupOf(tx, found.account_id, found.topup_id) }
}

/** What has been credited beside it stays completed. */
const withReason = (topup: TopupRow, resting_reason: TopupRow['resting_reason']): TopupRow =>
  topup.resting_status === 'error' ? { ...topup, resting_reason } : topup

function eventOf(
  { settings }: Pick<Parts, 'settings'>,
  topup: TopupRow,
  { value_micros }: HeldDepositRow,
): Pick<NewEvent, 'type' | 'resource' | 'object' | 'amount_micros'> {
  return {
    type: 'topup.error',
    resource: topupReference(topup.id),
    object: makeTopupView(settings)(topup),
    amount_micros: value_micros,
  }
}
