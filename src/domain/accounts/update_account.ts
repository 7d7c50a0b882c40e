import type { Notifications } from '#contract/accounts.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Handler, PreparingContext } from '#domain/context/context.ts'
import { clearGuesses, requireGuessLeft } from '#domain/credentials/guesses.ts'
import { endOtherSessions } from '#domain/credentials/session_store.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import {
  type AccountRow,
  accountView,
  emailTaken,
  maskEmail,
  requireAlertsStayOn,
  requireEmail,
  requireEmailClaimed,
  STANDARD_NOTIFICATIONS,
} from './account.ts'
import { findAccount, lockAccount, updateAccountRow } from './account_store.ts'
import { hashPassword, isPasswordCorrect, requireStrongPassword } from './password.ts'
import { requireUnrevoked } from './recheck_caller.ts'

export const updateAccount: Handler<'update_account'> = {
  prepare: async (context, input) => {
    requireAlertsStayOn(input.notifications)
    const checked =
      input.email !== undefined || input.password !== undefined
        ? await requireCurrentPassword(context, input.current_password)
        : null
    if (input.email !== undefined) await requireEmailFree(context, input.email)
    const password_hash =
      input.password === undefined ? null : await hashNewPassword(context, input.password)

    return async (context) => {
      const { tx, caller, now, settings, audit, alert, credentialsChanged } = context
      const account = await lockAccount(tx, caller.account_id)
      await requireUnrevoked({ tx, caller })
      if (checked !== null) requireSamePassword(account, checked)
      const livemode = settings.mode === 'live'
      const holdings = await findAccount(tx, account.id)
      const next = {
        email: input.email === undefined ? account.email : requireEmail(input.email),
        password_hash: password_hash ?? account.password_hash,
        notifications: { ...account.notifications, ...input.notifications },
      }
      if (!isChange(account, next)) return accountView(account, holdings, livemode)
      const changed = await updateAccountRow(tx, { id: account.id, ...next, now })
      if (password_hash !== null) {
        await endOtherSessions(tx, caller.account_id, caller.id, now)
        credentialsChanged(caller.account_id)
        alert(account.id, { kind: 'password_changed', recipient: account.email })
      }
      // Sent to the old address: an attacker would read the new one.
      if (changed.email !== account.email) {
        await requireEmailClaimed(context, changed.email)
        const detail = maskEmail(changed.email)
        alert(account.id, { kind: 'email_changed', recipient: account.email, detail })
      }
      const disabled = disabledNotifications(account, input)
      if (caller.kind === 'api_key' && disabled.length > 0) {
        const detail = `${disabled.join(', ')}; ${caller.name ?? caller.id}`
        alert(account.id, { kind: 'notifications_off', detail })
      }
      audit(account.id, {
        action: 'account.updated',
        resource: { type: 'account', id: account.id },
      })
      return accountView(changed, holdings, livemode)
    }
  },
}

type AccountContent = Pick<AccountRow, 'email' | 'password_hash' | 'notifications'>

/** An input without changes must not increase the version. */
function isChange(before: AccountContent, next: AccountContent): boolean {
  const content = ({ email, password_hash, notifications }: AccountContent) =>
    canonicalJson([email, password_hash, { ...STANDARD_NOTIFICATIONS, ...notifications }])
  return content(before) !== content(next)
}

/** An attacker with a key would turn off the withdrawal emails first, so this is alerted. */
function disabledNotifications(
  { notifications }: AccountRow,
  input: InputOfName<'update_account'>,
): string[] {
  const before = { ...STANDARD_NOTIFICATIONS, ...notifications }
  return Object.entries(input.notifications ?? {})
    .filter(([name, value]) => value === false && before[name as keyof Notifications] === true)
    .map(([name]) => name)
}

/**
 * Returns the account whose password was checked. Guesses are counted separately from sign-ins, so
 * a stranger at the sign-in page can't use them up.
 */
export async function requireCurrentPassword(
  context: Pick<PreparingContext, 'db' | 'keys' | 'caller' | 'now' | 'settings'>,
  password: string | undefined,
): Promise<AccountRow> {
  if (password === undefined) {
    throw new Problem('invalid_request', 'Send current_password to change the email or password.', {
      details: [{ field: 'current_password', message: 'is required with email or password' }],
    })
  }
  const { db, keys, caller, now, settings } = context
  const guess = { tx: db, keys, subject: `account|${caller.account_id}`, now }
  await requireGuessLeft(guess)
  const account = await findAccount(db, caller.account_id)
  if (!(await isPasswordCorrect(password, account.password_hash, settings))) throw wrongPassword()
  await clearGuesses(guess)
  return account
}

/** The cell of the account itself is asked in the transaction. */
async function requireEmailFree({ claimEmail }: PreparingContext, email: string): Promise<void> {
  if (!(await claimEmail(requireEmail(email)))) throw emailTaken()
}

const wrongPassword = () => new Problem('invalid_credentials', 'Incorrect password.')

/** The password may have been changed between the check and the transaction. */
export function requireSamePassword(account: AccountRow, checked: AccountRow): void {
  if (account.password_hash !== checked.password_hash) throw wrongPassword()
}

async function hashNewPassword(
  { db, caller, settings }: PreparingContext,
  password: string,
): Promise<string> {
  const account = await findAccount(db, caller.account_id)
  requireStrongPassword(password, account.email)
  return hashPassword(password, settings)
}
