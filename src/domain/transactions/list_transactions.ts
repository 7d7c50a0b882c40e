import type { Handler } from '#domain/context/context.ts'
import { anyOf } from '#platform/postgres/page.ts'
import { transactionView } from './transaction.ts'
import { transactionFilters } from './transaction_filters.ts'
import { ownedBy, pageOfTransactions } from './transaction_store.ts'

export const listTransactions: Handler<'list_transactions'> = async ({ tx, caller }, input) => {
  const page = await pageOfTransactions(tx, 'list_transactions', input, [
    ...ownedBy(caller),
    ...anyOf('card_id', input.card_id),
    ...transactionFilters(input),
  ])
  return { ...page, data: page.data.map(transactionView) }
}
