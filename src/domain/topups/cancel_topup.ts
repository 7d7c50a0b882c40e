import type { Handler } from '#domain/context/context.ts'
import { closeTopup } from './deposits.ts'
import { makeTopupView, requireCancellable, topupReference } from './topup.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

export const cancelTopup: Handler<'cancel_topup'> = async (context, { id }) => {
  const { tx, caller, now, settings, audit } = context
  const topup = await lockTopupOf(tx, caller.account_id, id)
  requireCancellable(topup)
  const cancelled = await updateTopup(tx, closeTopup(topup, 'cancelled_by_user', now), now)
  audit(caller.account_id, { action: 'cancel_topup', resource: topupReference(id) })
  return makeTopupView(settings)(cancelled)
}
