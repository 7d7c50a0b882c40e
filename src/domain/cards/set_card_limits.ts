import type { Handler } from '#domain/context/context.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { lockCardOf } from './card_store.ts'
import { changeControls } from './change_controls.ts'
import { parseLimits } from './limits.ts'

export const setCardLimits: Handler<'set_card_limits'> = async (context, { id, ...input }) => {
  const { tx, caller, settings } = context
  const [spend_limits, card] = await Promise.all([
    spendLimitsOf(tx, caller.account_id, settings),
    lockCardOf(tx, caller.account_id, id),
  ])
  return changeControls(context, card, {
    operation: 'set_card_limits',
    event: 'card.limits_updated',
    subject: 'spend limits',
    parse: () => parseLimits(input, spend_limits),
  })
}
