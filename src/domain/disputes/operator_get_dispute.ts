import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findTransactionOf } from '#domain/transactions/transaction_store.ts'
import { findDispute } from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

export const operatorGetDispute: OperatorHandler<'operator_get_dispute'> = async (
  { tx },
  { id },
) => {
  const dispute = await findDispute(tx, id)
  const { account_id, transaction_id } = dispute
  const { merchant_name } = await findTransactionOf(
    tx,
    { account_id, card_ids: null },
    transaction_id,
  )
  return { account_id, ...(await showDispute(tx, dispute)), merchant_name }
}
