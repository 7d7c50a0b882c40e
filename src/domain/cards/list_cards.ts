import type { Handler } from '#domain/context/context.ts'
import { anyOf, type Condition, equals } from '#platform/postgres/page.ts'
import { readCardPage } from './card_store.ts'

export const listCards: Handler<'list_cards'> = ({ tx, caller, now }, input) =>
  readCardPage(tx, {
    account_id: caller.account_id,
    input,
    where: [
      ...cardCondition(caller.card_ids),
      ...anyOf('status', input.status),
      ...anyOf('type', input.type),
      ...anyOf('bin', input.bin),
      ...anyOf('brand', input.brand),
      ...anyOf('last4', input.last4),
      ...equals('name', input.name),
      ...anyOf('client_id', input.agent),
    ],
    now,
  })

/** A token restricted to some cards sees only those. */
function cardCondition(card_ids: readonly string[] | null): Condition[] {
  return card_ids === null ? [] : [['id = any(?)', card_ids]]
}
