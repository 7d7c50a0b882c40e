import type { OperatorHandler } from '#domain/operators/operator.ts'
import { lockControls } from './account_controls_store.ts'
import { changeControls } from './administered_account.ts'
import { endBrowserSessions } from './browser_sessions.ts'

/** Ends every credential and declines every purchase immediately. Balances stay. */
export const operatorSuspendAccount: OperatorHandler<'operator_suspend_account'> = async (
  context,
  { id },
) => {
  await lockControls(context.tx, id)
  await endBrowserSessions(context.tx, id, context.now)
  return changeControls(context, id, {
    action: 'suspend_account',
    controls: { status: 'suspended' },
  })
}
