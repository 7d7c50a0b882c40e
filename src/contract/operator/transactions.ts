import Type from 'typebox'
import { Id, Input, Page, pageQuery } from '#contract/shapes.ts'
import { Transaction } from '#contract/transactions.ts'
import { operatorOperation } from './operation.ts'
import { owned } from './shapes.ts'

export const operator_list_transactions = operatorOperation({
  name: 'operator_list_transactions',
  method: 'GET',
  path: '/transactions',
  role: 'viewer',
  summary: 'List the transactions of an account, or find one of them.',
  input: Input({
    ...pageQuery,
    account_id: Id('acct', 'ID of the account.'),
    card_id: Type.Optional(Id('card', 'ID of the card to include.')),
    transaction_id: Type.Optional(Id('txn', 'ID of the transaction to include.')),
  }),
  output: Page(owned(Transaction)),
})
