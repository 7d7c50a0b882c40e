import type { Handler } from '#domain/context/context.ts'
import { lockCardOf } from './card_store.ts'
import { changeControls } from './change_controls.ts'
import { requireGeoRules } from './controls.ts'

export const setCardGeo: Handler<'set_card_geo'> = async (context, { id, ...rules }) => {
  const card = await lockCardOf(context.tx, context.caller.account_id, id)
  return changeControls(context, card, {
    operation: 'set_card_geo',
    event: 'card.geo_updated',
    subject: 'country rules',
    parse: () => {
      requireGeoRules(rules)
      return {
        ...(rules.allow !== undefined && { geo_allow: rules.allow }),
        ...(rules.deny !== undefined && { geo_deny: rules.deny }),
      }
    },
  })
}
