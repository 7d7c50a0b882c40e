import type { OperatorHandler } from '#domain/operators/operator.ts'
import { decideHeldRefund } from './held_refund.ts'

/** Never credited; the operator settles it with the network. */
export const operatorRefuseRefund: OperatorHandler<'operator_refuse_refund'> = (context, { id }) =>
  decideHeldRefund(context, id, { action: 'refuse_refund', refused_at: context.now })
