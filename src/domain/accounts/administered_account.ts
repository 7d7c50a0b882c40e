import type { Account } from '#contract/accounts.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import type { RateProfileName } from '#settings/rate_settings.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import { accountView } from './account.ts'
import {
  type AccountControls,
  findControls,
  lockControls,
  updateControls,
} from './account_controls_store.ts'
import { findAccounts } from './account_store.ts'

/** An account as operators see it. */
type AdministeredAccount = Account & {
  rate_profile: Exclude<RateProfileName, 'off'> | null
  /** The limits that were set for this account; the default limits apply otherwise. */
  own_limits: Partial<SpendLimits>
  spend_limits: SpendLimits
}

const reference = (id: string) => ({ type: 'account', id })

export async function findAdministeredAccounts(
  { tx, settings }: OperatorContext,
  ids: readonly string[],
): Promise<AdministeredAccount[]> {
  const rows = await findAccounts(tx, ids)
  const controls = await findControls(tx, ids)
  return rows.map((row) => {
    const { rate_profile = null, spend_limits = {} } = controls.get(row.id) ?? {}
    return {
      ...accountView(row, row, settings.mode === 'live'),
      rate_profile,
      own_limits: spend_limits,
      spend_limits: { ...settings.spend_limits, ...spend_limits },
    }
  })
}

export async function getAdministeredAccount(
  context: OperatorContext,
  id: string,
): Promise<AdministeredAccount> {
  const [account] = await findAdministeredAccounts(context, [id])
  if (account === undefined) throw notFound('account')
  return account
}

/** Changes an account's controls; every node forgets its cached credentials. */
export async function changeControls(
  context: OperatorContext,
  id: string,
  { action, controls }: { action: string; controls: Partial<AccountControls> },
): Promise<AdministeredAccount> {
  await lockControls(context.tx, id)
  await updateControls(context.tx, id, { controls, now: context.now })
  context.credentialsChanged(id)
  context.audit(id, { action, resource: reference(id) })
  return getAdministeredAccount(context, id)
}
