import type { Handler } from '#domain/context/context.ts'
import { showCard } from './card_store.ts'

export const getCard: Handler<'get_card'> = ({ tx, caller, now }, { id }) =>
  showCard(tx, { account_id: caller.account_id, id }, now)
