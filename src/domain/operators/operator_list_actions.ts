import type { OperatorHandler } from './operator.ts'
import { findOperatorActions } from './operator_actions.ts'

export const operatorListActions: OperatorHandler<'operator_list_actions'> = async (
  { tx },
  input,
) => ({ data: await findOperatorActions(tx, input) })
