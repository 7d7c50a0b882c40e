import type { Handler } from '#domain/context/context.ts'
import { lockCardOf } from './card_store.ts'
import { changeControls } from './change_controls.ts'
import { requireMccRules } from './controls.ts'

export const setMccRules: Handler<'set_mcc_rules'> = async (context, { id, ...rules }) => {
  const card = await lockCardOf(context.tx, context.caller.account_id, id)
  return changeControls(context, card, {
    operation: 'set_mcc_rules',
    event: 'card.mcc_updated',
    subject: 'merchant category rules',
    parse: () => {
      requireMccRules(rules)
      return {
        ...(rules.allow !== undefined && { mcc_allow: rules.allow }),
        ...(rules.deny !== undefined && { mcc_deny: rules.deny }),
      }
    },
  })
}
