import type { Topup } from '#contract/topups.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { Stamp } from '#domain/ledger/post.ts'
import { chain as chain_purse, suspense } from '#domain/ledger/purse.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { assert } from '#kernel/assert.ts'
import { dollarsFromMicros, formatUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { resolveTransfer, setTransferState } from './chain_store.ts'
import { moveOutOfSuspense, refreshTopup, requireHeld } from './suspense.ts'
import { findHeld, findRefunding, type HeldDepositRow } from './suspense_store.ts'
import { makeTopupEventView, makeTopupView, type TopupRow, topupReference } from './topup.ts'
import { lockTopupOf } from './topup_store.ts'

/** A task or an operator ends a payment: the time of the change, and the trail of their side. */
export type SettlementContext = Stamp & {
  settings: Settings
  emit(account_id: string, event: NewEvent): void | Promise<void>
}

/**
 * Starts the refund of a held deposit to its sender. The money leaves suspense when the transfer is
 * final; if the transfer fails, the deposit is held again.
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
  const stored = await refreshTopup(tx, withReason(topup, 'refunded'), context)
  const resource = topupReference(topup.id)
  context.emit(topup.account_id, {
    ...topupErrorEvent(context.settings, stored, deposit),
    message: `${formatUsd(deposit.value_micros)} deposit is being returned to its sender.`,
    severity: 'warning',
  })
  context.audit(topup.account_id, { action: 'refund_suspense', resource })
  return { deposit, topup: makeTopupView(context.settings)(stored) }
}

/** The transfer to the sender is final. */
export async function finishRefund(
  tx: Tx,
  { now, newId, settings }: Omit<SettlementContext, 'emit'>,
  id: string,
): Promise<void> {
  const { deposit, topup } = await lockRefunding(tx, id)
  const step = { movement: 'suspense_refunded', from: suspense, to: chain_purse } as const
  const movement_id = await moveOutOfSuspense(tx, { now, newId }, { deposit, step })
  await resolveTransfer(tx, id, { state: 'refunded', movement_id })
  await refreshTopup(tx, topup, { settings, now })
}

/** The transfer failed and nothing was sent: an operator decides on the deposit again. */
export async function abandonRefund(
  tx: Tx,
  { now, settings, emit }: Omit<SettlementContext, 'newId'>,
  id: string,
): Promise<void> {
  const { deposit, topup } = await lockRefunding(tx, id)
  await setTransferState(tx, id, { from: 'refunding', to: 'held' })
  const stored = await refreshTopup(tx, withReason(topup, deposit.held_reason), { settings, now })
  const amount = dollarsFromMicros(deposit.value_micros)
  await emit(topup.account_id, {
    ...topupErrorEvent(settings, stored, deposit),
    message: `${amount} deposit could not be returned and is on hold.`,
    severity: 'error',
  })
}

async function lockRefunding(tx: Tx, id: string) {
  const found = await findRefunding(tx, id)
  assert(found !== undefined, 'a refund in progress has its deposit')
  return { deposit: found, topup: await lockTopupOf(tx, found.account_id, found.topup_id) }
}

/** A top-up with another credited deposit stays completed. */
const withReason = (topup: TopupRow, resting_reason: TopupRow['resting_reason']): TopupRow =>
  topup.resting_status === 'error' ? { ...topup, resting_reason } : topup

function topupErrorEvent(
  settings: Settings,
  topup: TopupRow,
  { value_micros }: HeldDepositRow,
): Pick<NewEvent, 'type' | 'resource' | 'object' | 'amount_micros'> {
  return {
    type: 'topup.error',
    resource: topupReference(topup.id),
    object: makeTopupEventView(settings)(topup),
    amount_micros: value_micros,
  }
}
