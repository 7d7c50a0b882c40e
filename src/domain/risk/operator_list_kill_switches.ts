import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findKillSwitches } from './kill_switch_store.ts'

export const operatorListKillSwitches: OperatorHandler<'operator_list_kill_switches'> = async ({
  tx,
}) => ({ data: await findKillSwitches(tx) })
