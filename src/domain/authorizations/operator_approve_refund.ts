import type { OperatorHandler } from '#domain/operators/operator.ts'
import { decideHeldRefund } from './held_refund.ts'

export const operatorApproveRefund: OperatorHandler<'operator_approve_refund'> = (
  context,
  { id },
) => decideHeldRefund(context, id, { action: 'approve_refund', approved_at: context.now })
