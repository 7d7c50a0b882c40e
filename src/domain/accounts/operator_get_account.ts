import type { OperatorHandler } from '#domain/operators/operator.ts'
import { getAdministeredAccount } from './administered_account.ts'

export const operatorGetAccount: OperatorHandler<'operator_get_account'> = (context, { id }) =>
  getAdministeredAccount(context, id)
