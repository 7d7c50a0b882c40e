import { Problem } from '#contract/problem.ts'
import { clearGuesses, requireGuessLeft } from '#domain/access/guesses.ts'
import { endOtherSessions } from '#domain/access/session_store.ts'
import type { Handler, PreparingContext } from '#platform/context.ts'
import { accountView, EMPTY_HOLDINGS, foldEmail, requireAlertsStayOn } from './account.ts'
import { findAccount, lockAccount, updateAccountRow } from './account_store.ts'
import { hashPassword, isPassword, requireStrongPassword } from './password.ts'

export const updateAccount: Handler<'update_account'> = {
  prepare: async (context, input) => {
    requireAlertsStayOn(input.notifications)
    if (input.email !== undefined || input.password !== undefined) {
      await requireCurrentPassword(context, input.current_password)
    }
    const password_hash =
      input.password === undefined ? null : await newPasswordHash(context, input.password)

    return async ({ tx, caller, now, settings, audit, credentialsChanged }) => {
      const account = await lockAccount(tx, caller.account_id)
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
      }
      audit(account.id, {
        action: 'account.updated',
        resource: { type: 'account', id: account.id },
      })
      return accountView(changed, EMPTY_HOLDINGS, settings.mode === 'live')
    }
  },
}

/** Guesses are counted by account here: a stranger at the sign-in page cannot use them up. */
export async function requireCurrentPassword(
  context: PreparingContext,
  password: string | undefined,
): Promise<void> {
  if (password === undefined) {
    throw new Problem('invalid_request', 'Send current_password to change e-mail or password.', {
      details: [{ field: 'current_password', message: 'is required with email or password' }],
    })
  }
  const { db, keys, caller, now } = context
  const guess = { tx: db, keys, subject: `account|${caller.account_id}`, now }
  await requireGuessLeft(guess)
  const account = await findAccount(db, caller.account_id)
  if (!(await isPassword(password, account.password_hash))) {
    throw new Problem('invalid_credentials', 'The current password is not right.')
  }
  await clearGuesses(guess)
}

async function newPasswordHash(
  { db, caller }: PreparingContext,
  password: string,
): Promise<string> {
  const account = await findAccount(db, caller.account_id)
  requireStrongPassword(password, account.email)
  return hashPassword(password)
}
