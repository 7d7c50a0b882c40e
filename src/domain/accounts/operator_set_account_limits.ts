import { fieldProblem } from '#contract/common_problems.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findLimitConflict, type SpendLimits } from '#settings/spend_limit_settings.ts'
import { lockControls } from './account_controls_store.ts'
import { changeControls } from './administered_account.ts'

/** An absent limit is unchanged; null restores the default. */
export const operatorSetAccountLimits: OperatorHandler<'operator_set_account_limits'> = async (
  context,
  { id, rate_profile, ...limits },
) => {
  const { spend_limits } = await lockControls(context.tx, id)
  const merged = Object.entries({ ...spend_limits, ...limits })
  const own: Partial<SpendLimits> = Object.fromEntries(merged.filter(([, usd]) => usd !== null))
  requireNoConflict({ ...context.settings.spend_limits, ...own }, Object.keys(limits))
  return changeControls(context, id, {
    action: 'set_account_limits',
    controls: { spend_limits: own, ...(rate_profile !== undefined && { rate_profile }) },
  })
}

/** Compares the limits as they would apply: the other one of a pair may be stored or a default. */
function requireNoConflict(limits: SpendLimits, changed: readonly string[]): void {
  const conflict = findLimitConflict(limits, changed)
  if (conflict === null) return
  throw fieldProblem('amount_out_of_range', conflict.field, conflict.message)
}
