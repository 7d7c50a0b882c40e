import { suspense, treasury } from '#domain/ledger/purse.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { formatUsd } from '#kernel/money.ts'
import { resolveTransfer } from './chain_store.ts'
import { withOutcome } from './deposits.ts'
import { moveOutOfSuspense, refreshTopup, requireHeld } from './suspense.ts'
import { findHeld } from './suspense_store.ts'
import { makeTopupEventView, makeTopupView, topupReference } from './topup.ts'
import { lockTopupOf } from './topup_store.ts'

/** Credits a held deposit, under the lock of its top-up like every change of its transfers. */
export const operatorReleaseDeposit: OperatorHandler<'operator_release_deposit'> = async (
  context,
  { id },
) => {
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
  context.emit(topup.account_id, {
    type: 'topup.confirmed',
    message: `${formatUsd(deposit.value_micros)} deposit credited after review.`,
    resource,
    object: makeTopupEventView(settings)(stored),
    amount_micros: deposit.value_micros,
  })
  context.audit(topup.account_id, { action: 'release_suspense', resource })
  return makeTopupView(settings)(stored)
}
