import type { Account } from '#contract/accounts.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { equals, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { RateProfileName } from '#settings/rate_settings.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import { accountView, normalizeEmail } from './account.ts'
import {
  type AccountControls,
  findControls,
  lockControls,
  updateControls,
} from './account_controls_store.ts'
import { findAccounts } from './account_store.ts'
import { endBrowserSessions } from './browser_sessions.ts'

/** An account as operators see it. */
export type AdministeredAccount = Account & {
  rate_profile: Exclude<RateProfileName, 'off'> | null
  /** The limits that were set for this account; the default limits apply otherwise. */
  own_limits: Partial<SpendLimits>
  spend_limits: SpendLimits
}

const reference = (id: string) => ({ type: 'account', id })

async function findAdministeredAccounts(
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

export async function getAccountOf(
  context: OperatorContext,
  { id }: { id: string },
): Promise<AdministeredAccount> {
  const [account] = await findAdministeredAccounts(context, [id])
  if (account === undefined) throw notFound('account')
  return account
}

type AccountFilter = PageInput & { email?: string; status?: string }

export async function findAccountsOfAll(
  context: OperatorContext,
  input: AccountFilter,
): Promise<PageOf<AdministeredAccount>> {
  const email = input.email === undefined ? undefined : normalizeEmail(input.email)
  const page = await readPage<{ id: string }>(context.tx, {
    operation: 'operator.find_accounts',
    prefix: 'acct',
    select: 'select id from accounts',
    where: [...equals('email', email), ...equals('status', input.status)],
    input,
  })
  const ids = page.data.map(({ id }) => id)
  const accounts = await findAdministeredAccounts(context, ids)
  const by_id = new Map(accounts.map((account) => [account.id, account]))
  return { ...page, data: page.data.flatMap(({ id }) => by_id.get(id) ?? []) }
}

/** Ends every credential and declines every purchase immediately. Balances stay. */
export async function suspendAccount(
  context: OperatorContext,
  { id }: { id: string },
): Promise<AdministeredAccount> {
  await lockControls(context.tx, id)
  await endBrowserSessions(context.tx, id, context.now)
  return changeControls(context, id, {
    action: 'suspend_account',
    controls: { status: 'suspended' },
  })
}

export function reinstateAccount(
  context: OperatorContext,
  { id }: { id: string },
): Promise<AdministeredAccount> {
  return changeControls(context, id, {
    action: 'reinstate_account',
    controls: { status: 'active' },
  })
}

type LimitChange = { id: string; rate_profile?: 'default' | 'conservative' | null } & {
  [Name in keyof SpendLimits]?: number | null
}

/** An absent limit is unchanged; null restores the default. */
export async function setAccountLimits(
  context: OperatorContext,
  { id, rate_profile, ...limits }: LimitChange,
): Promise<AdministeredAccount> {
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

async function changeControls(
  context: OperatorContext,
  id: string,
  { action, controls }: { action: string; controls: Partial<AccountControls> },
): Promise<AdministeredAccount> {
  await lockControls(context.tx, id)
  await updateControls(context.tx, id, { controls, now: context.now })
  context.credentialsChanged(id)
  context.audit(id, { action, resource: reference(id) })
  return getAccountOf(context, { id })
}
