import { suspense, treasury } from '#domain/ledger/purse.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { formatUsd, microsFromUsd } from '#kernel/money.ts'
import { resolveTransfer } from './chain_store.ts'
import { withOutcome } from './deposits.ts'
import { findReleasedWith, moveOutOfSuspense, refreshTopup, requireHeld } from './suspense.ts'
import { findHeld } from './suspense_store.ts'
import { makeTopupEventView, makeTopupView, topupReference } from './topup.ts'
import { lockTopupOf } from './topup_store.ts'

/**
 * Credits a held deposit, under the lock of its top-up like every change of its transfers, and with
 * it the smaller ones whose sum now reaches the minimum.
 */
export const operatorReleaseDeposit: OperatorHandler<'operator_release_deposit'> = async (
  context,
  { id },
) => {
  const { tx, settings, now, newId } = context
  await requireRailOpen(tx, 'topups')
  const found = requireHeld(await findHeld(tx, id))
  const topup = await lockTopupOf(tx, found.account_id, found.topup_id)
  const deposit = requireHeld(await findHeld(tx, id))
  const { deposit_min_usd } = await spendLimitsOf(tx, topup.account_id, settings)
  const smaller = await findReleasedWith(tx, deposit, microsFromUsd(deposit_min_usd))
  const step = { movement: 'suspense_released', from: suspense, to: treasury } as const
  let amount_micros = 0n
  for (const each of [deposit, ...smaller]) {
    const movement_id = await moveOutOfSuspense(tx, { now, newId }, { deposit: each, step })
    await resolveTransfer(tx, each.id, { state: 'released', movement_id })
    amount_micros += each.value_micros
  }

  const stored = await refreshTopup(tx, withOutcome(topup, null, now), context)
  const resource = topupReference(topup.id)
  context.emit(topup.account_id, {
    type: 'topup.confirmed',
    message: `${formatUsd(amount_micros)} deposit credited after review.`,
    resource,
    object: makeTopupEventView(settings)(stored),
    amount_micros,
  })
  context.audit(topup.account_id, { action: 'release_suspense', resource })
  return makeTopupView(settings)(stored)
}
