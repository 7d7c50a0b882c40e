import type { Handler } from '#domain/context/context.ts'
import { closed } from './deposits.ts'
import { requireCancellable, topupReference, viewIn } from './topup.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

export const cancelTopup: Handler<'cancel_topup'> = async (context, { id }) => {
  const { tx, caller, now, settings, audit } = context
  const topup = await lockTopupOf(tx, caller.account_id, id)
  requireCancellable(topup)
  const cancelled = await updateTopup(tx, closed(topup, 'cancelled_by_user', now), now)
  audit(caller.account_id, { action: 'cancel_topup', resource: topupReference(id) })
  return viewIn(settings)(cancelled)
}
