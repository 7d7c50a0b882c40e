import type { Handler } from '#domain/context/context.ts'
import { transactionView } from './transaction.ts'
import { transactionConditions } from './transaction_conditions.ts'
import { readTransactionPage, requireCardOf } from './transaction_store.ts'

export const listCardTransactions: Handler<'list_card_transactions'> = async (
  { tx, caller },
  input,
) => {
  await requireCardOf(tx, caller, input.id)
  const page = await readTransactionPage(tx, 'list_card_transactions', input, {
    account_id: caller.account_id,
    card_ids: [input.id],
    filters: transactionConditions(input),
  })
  return { ...page, data: page.data.map(transactionView) }
}
