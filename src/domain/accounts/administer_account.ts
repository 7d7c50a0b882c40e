import type { Account } from '#contract/accounts.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { equals, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { RateProfileName } from '#settings/rate_settings.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import { accountView, foldEmail } from './account.ts'
import {
  type AccountControls,
  changeControls,
  findControls,
  lockControls,
} from './account_controls_store.ts'
import { findAccounts } from './account_store.ts'
import { endBrowserSessions } from './browser_sessions.ts'

/** An account as those who run the programme see it. */
export type AdministeredAccount = Account & {
  rate_profile: Exclude<RateProfileName, 'off'> | null
  /** What was set for this account; the rest is the programme's. */
  own_limits: Partial<SpendLimits>
  spend_limits: SpendLimits
}

const reference = (id: string) => ({ type: 'account', id })

async function show(
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
  const [account] = await show(context, [id])
  if (account === undefined) throw notFound('account')
  return account
}

type Wanted = PageInput & { email?: string; status?: string }

export async function findAccountsOfAll(
  context: OperatorContext,
  input: Wanted,
): Promise<PageOf<AdministeredAccount>> {
  const email = input.email === undefined ? undefined : foldEmail(input.email)
  const page = await readPage<{ id: string }>(context.tx, {
    operation: 'operator.find_accounts',
    prefix: 'acct',
    select: 'select id from accounts',
    where: [['id is not null'], ...equals('email', email), ...equals('status', input.status)],
    input,
  })
  const found = await show(
    context,
    page.data.map(({ id }) => id),
  )
  const by_id = new Map(found.map((account) => [account.id, account]))
  return { ...page, data: page.data.flatMap(({ id }) => by_id.get(id) ?? []) }
}

/** Its bearers open nothing and its cards decline from the next moment on; its money stays. */
export async function suspendAccount(
  context: OperatorContext,
  { id }: { id: string },
): Promise<AdministeredAccount> {
  await lockControls(context.tx, id)
  await endBrowserSessions(context.tx, id, context.now)
  return change(context, id, { act: 'suspend_account', controls: { status: 'suspended' } })
}

export function reinstateAccount(
  context: OperatorContext,
  { id }: { id: string },
): Promise<AdministeredAccount> {
  return change(context, id, { act: 'reinstate_account', controls: { status: 'active' } })
}

type LimitChange = { id: string; rate_profile?: 'default' | 'conservative' | null } & {
  [Name in keyof SpendLimits]?: number | null
}

/** Absent: unchanged. Null: the programme's own again. */
export async function setAccountLimits(
  context: OperatorContext,
  { id, rate_profile, ...limits }: LimitChange,
): Promise<AdministeredAccount> {
  const { spend_limits } = await lockControls(context.tx, id)
  const own = Object.entries({ ...spend_limits, ...limits }).filter(([, value]) => value !== null)
  return change(context, id, {
    act: 'set_account_limits',
    controls: {
      spend_limits: Object.fromEntries(own) as Partial<SpendLimits>,
      ...(rate_profile !== undefined && { rate_profile }),
    },
  })
}

async function change(
  context: OperatorContext,
  id: string,
  { act, controls }: { act: string; controls: Partial<AccountControls> },
): Promise<AdministeredAccount> {
  await lockControls(context.tx, id)
  await changeControls(context.tx, id, { controls, now: context.now })
  context.credentialsChanged(id)
  context.audit(id, { action: act, resource: reference(id) })
  return getAccountOf(context, { id })
}
