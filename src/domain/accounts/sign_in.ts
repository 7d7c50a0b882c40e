import { accountSuspended, totpRequired } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Handler, PreparingContext } from '#domain/context/context.ts'
import { clearGuesses, giveBackGuess, requireGuessLeft } from '#domain/credentials/guesses.ts'
import { openSession, sessionView } from '#domain/credentials/session.ts'
import { hasSessionFrom } from '#domain/credentials/session_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type AccountRow, foldEmail } from './account.ts'
import { findAccountByEmail, lockAccount } from './account_store.ts'
import { isPassword } from './password.ts'
import { requireTotpCode } from './two_factor.ts'

export const signIn: Handler<'sign_in'> = {
  prepare: async (context, input) => {
    const guess = {
      tx: context.db,
      keys: context.keys,
      subject: `sign_in|${foldEmail(input.email)}`,
      now: context.now,
    }
    await requireGuessLeft(guess)
    const account = await requireAccount(context, input)
    if (account.totp_status === 'enabled') {
      if (input.totp_code === undefined) {
        await giveBackGuess(guess)
        throw totpRequired()
      }
      await requireSecondFactor(context, account, input.totp_code)
    }
    await clearGuesses(guess)

    return async (context) => {
      await requireAsJudged(context.tx, account)
      const isNewPlace = !(await hasSessionFrom(context.tx, account.id, context.request.ip))
      const session = await openSession(context, account.id)
      if (isNewPlace) context.alert(account.id, { kind: 'new_sign_in', detail: session.ip })
      context.emit(account.id, {
        type: 'account.signed_in',
        message: 'Signed in.',
        resource: { type: 'session', id: session.id },
        object: sessionView(session),
      })
      context.audit(account.id, {
        action: 'session.created',
        resource: { type: 'session', id: session.id },
        actor_id: session.id,
      })
      return {
        bearer: session.bearer.open(),
        session_id: session.id,
        account_id: account.id,
        expires_at: session.expires_at.toISOString(),
      }
    }
  },
}

type Anonymous = PreparingContext<null>

/** The same sentence and the same time for a wrong password as for an e-mail nobody has. */
async function requireAccount(
  context: Anonymous,
  input: { email: string; password: string },
): Promise<AccountRow> {
  const account = await findAccountByEmail(context.db, foldEmail(input.email))
  if (!(await isPassword(input.password, account?.password_hash)) || account === undefined) {
    if (account !== undefined) await auditFailure(context, account)
    throw invalidCredentials()
  }
  requireActive(account)
  return account
}

/**
 * What was judged may have changed before the transaction began. A new password ends every session
 * of the old one, so none may begin after it; and the same goes for two-factor and suspension.
 */
async function requireAsJudged(tx: Tx, judged: AccountRow): Promise<void> {
  const account = await lockAccount(tx, judged.id)
  if (account.password_hash !== judged.password_hash) throw invalidCredentials()
  requireActive(account)
  if (account.totp_status === 'enabled' && judged.totp_status !== 'enabled') throw totpRequired()
}

function requireActive(account: AccountRow): void {
  if (account.status !== 'suspended') return
  throw accountSuspended()
}

const invalidCredentials = () => new Problem('invalid_credentials', 'Incorrect email or password.')

/** In a transaction of its own: a code that was shown to us is used up, whatever comes after. */
async function requireSecondFactor(
  context: Anonymous,
  account: AccountRow,
  code: string,
): Promise<void> {
  const { db, keys, clock } = context
  try {
    await db.transaction((tx) => requireTotpCode({ tx, keys, clock }, account, code))
  } catch (cause) {
    if (cause instanceof Problem) await auditFailure(context, account)
    throw cause
  }
}

function auditFailure(context: Anonymous, account: AccountRow): Promise<void> {
  return context.auditRefusal(account.id, {
    action: 'session.failed',
    result: 'failure',
    resource: { type: 'account', id: account.id },
  })
}
