import { findEmail } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findMerchantNames } from '#domain/transactions/transaction_store.ts'
import { findDispute } from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

export const operatorGetDispute: OperatorHandler<'operator_get_dispute'> = async (
  { tx },
  { id },
) => {
  const dispute = await findDispute(tx, id)
  const { account_id, transaction_id } = dispute
  const names = await findMerchantNames(tx, [{ account_id, transaction_id }])
  // Empty if the transaction is archived.
  const merchant_name = names.get(transaction_id) ?? ''
  const account_email = await findEmail(tx, account_id)
  return { account_id, account_email, ...(await showDispute(tx, dispute)), merchant_name }
}
