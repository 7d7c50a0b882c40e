import type { Notifications } from '#contract/accounts.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Handler, PreparingContext } from '#domain/context/context.ts'
import { clearGuesses, requireGuessLeft } from '#domain/credentials/guesses.ts'
import { endOtherSessions } from '#domain/credentials/session_store.ts'
import {
  type AccountRow,
  accountView,
  foldEmail,
  requireAlertsStayOn,
  STANDARD_NOTIFICATIONS,
} from './account.ts'
import { findAccount, lockAccount, updateAccountRow } from './account_store.ts'
import { hashPassword, isPassword, requireStrongPassword } from './password.ts'

export const updateAccount: Handler<'update_account'> = {
  prepare: async (context, input) => {
    requireAlertsStayOn(input.notifications)
    const judged =
      input.email !== undefined || input.password !== undefined
        ? await requireCurrentPassword(context, input.current_password)
        : null
    const password_hash =
      input.password === undefined ? null : await newPasswordHash(context, input.password)

    return async ({ tx, caller, now, settings, audit, alert, credentialsChanged }) => {
      const account = await lockAccount(tx, caller.account_id)
      if (judged !== null) requireSamePassword(account, judged)
      const livemode = settings.mode === 'live'
      const holdings = await findAccount(tx, account.id)
      if (!isChange(input)) return accountView(account, holdings, livemode)
      const changed = await updateAccountRow(tx, {
        id: account.id,
        email: input.email === undefined ? account.email : foldEmail(input.email),
        password_hash: password_hash ?? account.password_hash,
        notifications: { ...account.notifications, ...input.notifications },
        now,
      })
      if (password_hash !== null) {
        await endOtherSessions(tx, caller.account_id, caller.id, now)
        credentialsChanged(caller.account_id)
        alert(account.id, { kind: 'password_changed', recipient: account.email })
      }
      // To the old address: whoever has taken the account over reads the new one.
      if (changed.email !== account.email) {
        alert(account.id, { kind: 'email_changed', recipient: account.email })
      }
      const off = turnedOff(account, input)
      if (caller.kind === 'api_key' && off.length > 0) {
        alert(account.id, { kind: 'notifications_off', detail: off.join(', ') })
      }
      audit(account.id, {
        action: 'account.updated',
        resource: { type: 'account', id: account.id },
      })
      return accountView(changed, holdings, livemode)
    }
  },
}

/** A version counts changes, and asking for none is not one. */
function isChange({ email, password, notifications }: InputOfName<'update_account'>): boolean {
  return (
    email !== undefined || password !== undefined || Object.keys(notifications ?? {}).length > 0
  )
}

/** A thief with a key would silence the e-mails about withdrawals first. */
function turnedOff({ notifications }: AccountRow, input: InputOfName<'update_account'>): string[] {
  const before = { ...STANDARD_NOTIFICATIONS, ...notifications }
  return Object.entries(input.notifications ?? {})
    .filter(([name, value]) => value === false && before[name as keyof Notifications] === true)
    .map(([name]) => name)
}

/**
 * Answers with the account as it was judged. Guesses are counted by account here: a stranger at the
 * sign-in page cannot use them up.
 */
export async function requireCurrentPassword(
  context: PreparingContext,
  password: string | undefined,
): Promise<AccountRow> {
  if (password === undefined) {
    throw new Problem('invalid_request', 'Send current_password to change the email or password.', {
      details: [{ field: 'current_password', message: 'is required with email or password' }],
    })
  }
  const { db, keys, caller, now } = context
  const guess = { tx: db, keys, subject: `account|${caller.account_id}`, now }
  await requireGuessLeft(guess)
  const account = await findAccount(db, caller.account_id)
  if (!(await isPassword(password, account.password_hash))) {
    throw wrongPassword()
  }
  await clearGuesses(guess)
  return account
}

const wrongPassword = () => new Problem('invalid_credentials', 'The current password is incorrect.')

/** A password that was right before the transaction may have been replaced since. */
export function requireSamePassword(account: AccountRow, judged: AccountRow): void {
  if (account.password_hash !== judged.password_hash) throw wrongPassword()
}

async function newPasswordHash(
  { db, caller }: PreparingContext,
  password: string,
): Promise<string> {
  const account = await findAccount(db, caller.account_id)
  requireStrongPassword(password, account.email)
  return hashPassword(password)
}
