import type { OperatorHandler } from '#domain/operators/operator.ts'
import { updateKillSwitch } from './kill_switch_store.ts'

/** Nothing new starts on a stopped rail; what has started is finished. */
export const operatorSetKillSwitch: OperatorHandler<'operator_set_kill_switch'> = (
  { tx, now },
  input,
) => updateKillSwitch(tx, input, now)
