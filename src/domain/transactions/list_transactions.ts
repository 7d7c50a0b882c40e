import { findCardsOfAgents } from '#domain/cards/cards_of_agents.ts'
import type { Handler } from '#domain/context/context.ts'
import { transactionView } from './transaction.ts'
import { transactionConditions } from './transaction_conditions.ts'
import { readTransactionPage } from './transaction_store.ts'

export const listTransactions: Handler<'list_transactions'> = async ({ tx, caller }, input) => {
  const { account_id } = caller
  const of_agents =
    input.agent === undefined
      ? null
      : await findCardsOfAgents(tx, account_id, input.agent.split(','))
  const page = await readTransactionPage(tx, 'list_transactions', input, {
    account_id,
    card_ids: commonIds([caller.card_ids, input.card_id?.split(',') ?? null, of_agents]),
    filters: transactionConditions(input),
  })
  return { ...page, data: page.data.map(transactionView) }
}

/** The IDs that are in every list; null if there is none. */
function commonIds(lists: readonly (readonly string[] | null)[]): readonly string[] | null {
  const given = lists.filter((list) => list !== null)
  const [first, ...others] = given
  if (first === undefined) return null
  return first.filter((id) => others.every((list) => list.includes(id)))
}
