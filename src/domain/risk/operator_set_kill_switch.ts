import type { OperatorHandler } from '#domain/operators/operator.ts'
import { notifyOtherCells, updateKillSwitch } from './kill_switch_store.ts'

/**
 * Nothing new starts on a stopped rail; what has started is finished. With several cells it runs in
 * cell 0, from which the others take the change over.
 */
export const operatorSetKillSwitch: OperatorHandler<'operator_set_kill_switch'> = async (
  { tx, now, settings },
  input,
) => {
  const changed = await updateKillSwitch(tx, input, now)
  if (settings.more_cells.length > 0) await notifyOtherCells(tx)
  return changed
}
