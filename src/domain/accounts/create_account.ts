import { openSession } from '#domain/access/session.ts'
import type { Context, Handler } from '#platform/context.ts'
import { accountView, EMPTY_HOLDINGS, foldEmail, STANDARD_NOTIFICATIONS } from './account.ts'
import { insertAccount } from './account_store.ts'
import { hashPassword, requireStrongPassword } from './password.ts'

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
        message: 'The account was opened.',
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
  // Bearers are not kept, so a repeat gets a session of its own.
  replay: signedIn,
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
