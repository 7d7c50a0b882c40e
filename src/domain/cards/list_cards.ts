import type { Handler } from '#domain/context/context.ts'
import { anyOf, type Condition, equals } from '#platform/postgres/page.ts'
import { pageOfCards } from './card_store.ts'

export const listCards: Handler<'list_cards'> = ({ tx, caller, now }, input) =>
  pageOfCards(tx, {
    account_id: caller.account_id,
    input,
    where: [
      ...amongOnly(caller.card_ids),
      ...anyOf('status', input.status),
      ...anyOf('type', input.type),
      ...anyOf('bin', input.bin),
      ...anyOf('brand', input.brand),
      ...anyOf('last4', input.last4),
      ...equals('name', input.name),
    ],
    now,
  })

/** A token that is held to some cards does not learn of the others. */
function amongOnly(card_ids: readonly string[] | null): Condition[] {
  return card_ids === null ? [] : [['id = any(?)', card_ids]]
}
