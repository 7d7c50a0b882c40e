import type { Handler } from '#domain/context/context.ts'
import { anyOf, type Condition, endPageBySize, mapPage } from '#platform/postgres/page.ts'
import { readDisputePage } from './dispute_store.ts'
import { measureNotes } from './evidence_store.ts'
import { showDisputePage } from './show_disputes.ts'

export const listDisputes: Handler<'list_disputes'> = async ({ tx, caller }, input) => {
  const query = {
    operation: 'list_disputes',
    input,
    where: [
      ['account_id = ?', caller.account_id],
      ...cardCondition(caller.card_ids),
      ...anyOf('status', input.status),
      ...anyOf('outcome', input.outcome),
      ...anyOf('transaction_id', input.transaction_id),
      ...anyOf('card_id', input.card_id),
    ] as const,
  }
  const page = await readDisputePage(tx, query)
  const shown = endPageBySize(page, query, await measureNotes(tx, page.data))
  return mapPage(await showDisputePage(tx, shown), ({ dispute }) => dispute)
}

/** A token restricted to some cards sees only disputes of purchases with those. */
function cardCondition(card_ids: readonly string[] | null): Condition[] {
  return card_ids === null ? [] : [['card_id = any(?)', card_ids]]
}
