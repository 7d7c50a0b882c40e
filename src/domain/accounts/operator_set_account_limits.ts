import type { OperatorHandler } from '#domain/operators/operator.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import { lockControls } from './account_controls_store.ts'
import { changeControls } from './administered_account.ts'

/** An absent limit is unchanged; null restores the default. */
export const operatorSetAccountLimits: OperatorHandler<'operator_set_account_limits'> = async (
  context,
  { id, rate_profile, ...limits },
) => {
  const { spend_limits } = await lockControls(context.tx, id)
  const own = Object.entries({ ...spend_limits, ...limits }).filter(([, value]) => value !== null)
  return changeControls(context, id, {
    action: 'set_account_limits',
    controls: {
      spend_limits: Object.fromEntries(own) as Partial<SpendLimits>,
      ...(rate_profile !== undefined && { rate_profile }),
    },
  })
}
