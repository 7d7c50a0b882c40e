import type { Context, Handler } from '#domain/context/context.ts'
import { openSession } from '#domain/credentials/session.ts'
import {
  accountView,
  EMPTY_HOLDINGS,
  requireEmail,
  requireEmailClaimed,
  STANDARD_NOTIFICATIONS,
} from './account.ts'
import { insertAccount, lockAccount } from './account_store.ts'
import { hashPassword, isPasswordCorrect, requireStrongPassword } from './password.ts'

export const createAccount: Handler<'create_account'> = {
  prepare: async ({ settings }, input) => {
    const email = requireEmail(input.email)
    requireStrongPassword(input.password, email)
    const password_hash = await hashPassword(input.password, settings)

    return async (context) => {
      const account = await insertAccount(context.tx, {
        id: context.newId('acct'),
        email,
        password_hash,
        notifications: STANDARD_NOTIFICATIONS,
        now: context.now,
      })
      await requireEmailClaimed(context, email)
      const session = await signIn(context, { id: account.id, email })

      context.emit(account.id, {
        type: 'account.created',
        message: 'Account created.',
        resource: { type: 'account', id: account.id },
        object: accountView(account, EMPTY_HOLDINGS, context.settings.mode === 'live'),
      })
      context.audit(account.id, {
        action: 'account.created',
        resource: { type: 'account', id: account.id },
        actor_id: session.session_id,
      })
      return session
    }
  },
  // Bearers are not stored, so a retry gets a new session, unless the account was suspended, its
  // password was changed or two-factor authentication was turned on since.
  replay: async (context, stored, input) => {
    const account = await lockAccount(context.tx, stored.id)
    const isUnchanged = account.status === 'active' && account.totp_status !== 'enabled'
    if (!isUnchanged) return stored
    const { password_hash } = account
    const isSame = await isPasswordCorrect(input.password, password_hash, context.settings)
    if (!isSame) return stored
    const session = await signIn(context, account)
    context.audit(account.id, {
      action: 'session.created',
      resource: { type: 'session', id: session.session_id },
      actor_id: session.session_id,
    })
    return session
  },
}

async function signIn(context: Context<null>, { id, email }: { id: string; email: string }) {
  const session = await openSession(context, id)
  return {
    id,
    email,
    bearer: session.bearer.open(),
    session_id: session.id,
    expires_at: session.expires_at.toISOString(),
  }
}
