import type { Handler } from '#domain/context/context.ts'
import { transactionView } from './transaction.ts'
import { findTransactionOf } from './transaction_store.ts'

export const getTransaction: Handler<'get_transaction'> = async ({ tx, caller }, { id }) =>
  transactionView(await findTransactionOf(tx, caller, id))
