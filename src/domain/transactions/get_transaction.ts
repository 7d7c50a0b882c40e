import type { Handler } from '#domain/context/context.ts'
import { transactionView } from './transaction.ts'
import { transactionOf } from './transaction_store.ts'

export const getTransaction: Handler<'get_transaction'> = async ({ tx, caller }, { id }) =>
  transactionView(await transactionOf(tx, caller, id))
