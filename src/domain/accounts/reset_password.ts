import { accountSuspended, totpRequired } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Handler, PreparingContext } from '#domain/context/context.ts'
import { clearGuesses } from '#domain/credentials/guesses.ts'
import { consumeReset, findResetAccount } from '#domain/credentials/password_reset_store.ts'
import { endAllSessions } from '#domain/credentials/session_store.ts'
import type { AccountRow } from './account.ts'
import { findAccount, lockAccount, updateAccountRow } from './account_store.ts'
import { hashPassword, requireStrongPassword } from './password.ts'
import { consumeCode } from './two_factor.ts'

/**
 * Sets a new password with the token of an emailed link. Only a success uses the token up, so a
 * weak password or a wrong code can be corrected. API keys and grants stay: they need no password.
 */
export const resetPassword: Handler<'reset_password'> = {
  prepare: async (context, { token, password, totp_code }) => {
    const checked = await requireAccount(context, token)
    requireStrongPassword(password, checked.email)
    const password_hash = await hashPassword(password, context.settings)
    await requireSecondFactor(context, checked, totp_code)

    return async ({ tx, keys, now, audit, alert, credentialsChanged }) => {
      const account = await lockAccount(tx, checked.id)
      if (!(await consumeReset(tx, { keys }, { token, now }))) throw resetTokenInvalid()
      requireActive(account)
      const isCodeMissing = account.totp_status === 'enabled' && checked.totp_status !== 'enabled'
      if (isCodeMissing) throw totpRequired()

      const { id, email, notifications } = account
      await updateAccountRow(tx, { id, email, password_hash, notifications, now })
      await endAllSessions(tx, id, now)
      // The owner may have locked the sign-in with guesses of the forgotten password.
      await clearGuesses({ tx, keys, subject: `sign_in|${email}` })
      credentialsChanged(id)
      audit(id, { action: 'reset_password', resource: { type: 'account', id } })
      alert(id, { kind: 'password_reset' })
      return {}
    }
  },
}

type AnonymousContext = PreparingContext<null>

async function requireAccount(
  { db, keys, now }: AnonymousContext,
  token: string,
): Promise<AccountRow> {
  const account_id = await findResetAccount(db, { keys }, { token, now })
  if (account_id === undefined) throw resetTokenInvalid()
  const account = await findAccount(db, account_id)
  requireActive(account)
  return account
}

function requireActive({ status }: AccountRow): void {
  if (status === 'suspended') throw accountSuspended()
}

const resetTokenInvalid = () =>
  new Problem(
    'reset_token_invalid',
    'This reset link expired, was already used or was replaced by a newer one. Request a new one.',
  )

/**
 * Guesses are counted apart from those at sign-in and in settings, so someone who reads the mailbox
 * can't lock the owner out.
 */
async function requireSecondFactor(
  context: AnonymousContext,
  account: AccountRow,
  totp_code: string | undefined,
): Promise<void> {
  if (account.totp_status !== 'enabled') return
  if (totp_code === undefined) throw totpRequired()
  try {
    const subject = `password_reset|totp|${account.id}`
    await consumeCode(context, account, { totp_code, subject })
  } catch (cause) {
    if (cause instanceof Problem && cause.code === 'totp_invalid') {
      const resource = { type: 'account', id: account.id }
      const entry = { action: 'reset_password', result: 'failure', resource } as const
      await context.auditRefusal(account.id, entry)
    }
    throw cause
  }
}
