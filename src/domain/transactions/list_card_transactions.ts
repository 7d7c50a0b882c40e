import type { Handler } from '#domain/context/context.ts'
import { equals } from '#platform/postgres/page.ts'
import { transactionView } from './transaction.ts'
import { transactionFilters } from './transaction_filters.ts'
import { ownedBy, pageOfTransactions, requireCardOf } from './transaction_store.ts'

export const listCardTransactions: Handler<'list_card_transactions'> = async (
  { tx, caller },
  input,
) => {
  await requireCardOf(tx, caller, input.id)
  const page = await pageOfTransactions(tx, 'list_card_transactions', input, [
    ...ownedBy(caller),
    ...equals('card_id', input.id),
    ...transactionFilters(input),
  ])
  return { ...page, data: page.data.map(transactionView) }
}
