import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { equals, mapPage } from '#platform/postgres/page.ts'
import { transactionView } from './transaction.ts'
import { readTransactionPage } from './transaction_store.ts'

export const operatorListTransactions: OperatorHandler<'operator_list_transactions'> = async (
  { tx },
  { account_id, card_id, transaction_id, ...input },
) => {
  const page = await readTransactionPage(tx, 'operator_list_transactions', input, {
    account_id,
    card_ids: card_id === undefined ? null : [card_id],
    filters: equals('id', transaction_id),
  })
  return withEmails(
    tx,
    mapPage(page, (row) => ({ account_id, ...transactionView(row) })),
  )
}
