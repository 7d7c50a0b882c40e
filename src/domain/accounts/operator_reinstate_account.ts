import type { OperatorHandler } from '#domain/operators/operator.ts'
import { changeControls } from './administered_account.ts'

export const operatorReinstateAccount: OperatorHandler<'operator_reinstate_account'> = (
  context,
  { id },
) => changeControls(context, id, { action: 'reinstate_account', controls: { status: 'active' } })
