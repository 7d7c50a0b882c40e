import type { Context, Handler } from '#domain/context/context.ts'
import { openSession } from '#domain/credentials/session.ts'
import { accountView, EMPTY_HOLDINGS, foldEmail, STANDARD_NOTIFICATIONS } from './account.ts'
import { insertAccount, lockAccount } from './account_store.ts'
import { hashPassword, isPassword, requireStrongPassword } from './password.ts'

export const createAccount: Handler<'create_account'> = {
  prepare: async (_context, input) => {
    const email = foldEmail(input.email)
    requireStrongPassword(input.password, email)
    const password_hash = await hashPassword(input.password)

    return async (context) => {
      const account = await insertAccount(context.tx, {
        id: context.newId('acct'),
        email,
        password_hash,
        notifications: STANDARD_NOTIFICATIONS,
        now: context.now,
      })
      const opened = await signedIn(context, { id: account.id, email })

      context.emit(account.id, {
        type: 'account.created',
        message: 'Account created.',
        resource: { type: 'account', id: account.id },
        object: accountView(account, EMPTY_HOLDINGS, context.settings.mode === 'live'),
      })
      context.audit(account.id, {
        action: 'account.created',
        resource: { type: 'account', id: account.id },
        actor_id: opened.session_id,
      })
      return opened
    }
  },
  // Bearers are not kept, so a repeat gets a session of its own; unless the account has moved on
  // since: then what opened it must not open it again.
  replay: async (context, stored, input) => {
    const account = await lockAccount(context.tx, stored.id)
    const isAsOpened = account.status === 'active' && account.totp_status !== 'enabled'
    if (!isAsOpened || !(await isPassword(input.password, account.password_hash))) return stored
    const opened = await signedIn(context, account)
    context.audit(account.id, {
      action: 'session.created',
      resource: { type: 'session', id: opened.session_id },
      actor_id: opened.session_id,
    })
    return opened
  },
}

async function signedIn(context: Context<null>, { id, email }: { id: string; email: string }) {
  const session = await openSession(context, id)
  return {
    id,
    email,
    bearer: session.bearer.open(),
    session_id: session.id,
    expires_at: session.expires_at.toISOString(),
  }
}
