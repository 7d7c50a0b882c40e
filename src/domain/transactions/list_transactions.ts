import { ofAgentCards } from '#domain/cards/cards_of_agents.ts'
import type { Handler } from '#domain/context/context.ts'
import { anyOf } from '#platform/postgres/page.ts'
import { transactionView } from './transaction.ts'
import { transactionConditions } from './transaction_conditions.ts'
import { readTransactionPage, visibleTo } from './transaction_store.ts'

export const listTransactions: Handler<'list_transactions'> = async ({ tx, caller }, input) => {
  const page = await readTransactionPage(tx, 'list_transactions', input, [
    ...visibleTo(caller),
    ...anyOf('card_id', input.card_id),
    ...(await ofAgentCards(tx, caller.account_id, input.agent)),
    ...transactionConditions(input),
  ])
  return { ...page, data: page.data.map(transactionView) }
}
