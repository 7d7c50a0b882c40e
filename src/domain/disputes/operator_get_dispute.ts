import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findDispute } from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

export const operatorGetDispute: OperatorHandler<'operator_get_dispute'> = async (
  { tx },
  { id },
) => {
  const dispute = await findDispute(tx, id)
  return { account_id: dispute.account_id, ...(await showDispute(tx, dispute)) }
}
