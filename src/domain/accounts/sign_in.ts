import { accountSuspended, totpRequired } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Handler, PreparingContext } from '#domain/context/context.ts'
import { clearGuesses, requireGuessLeft, uncountGuess } from '#domain/credentials/guesses.ts'
import { openSession, sessionView } from '#domain/credentials/session.ts'
import { hasSessionFrom } from '#domain/credentials/session_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type AccountRow, normalizeEmail } from './account.ts'
import { findAccountByEmail, lockAccount } from './account_store.ts'
import { isPasswordCorrect } from './password.ts'
import { requireTotpCode } from './two_factor.ts'

export const signIn: Handler<'sign_in'> = {
  prepare: async (context, input) => {
    const guess = {
      tx: context.db,
      keys: context.keys,
      subject: `sign_in|${normalizeEmail(input.email)}`,
      now: context.now,
    }
    await requireGuessLeft(guess)
    const account = await requireAccount(context, input)
    if (account.totp_status === 'enabled') {
      if (input.totp_code === undefined) {
        await uncountGuess(guess)
        throw totpRequired()
      }
      await requireSecondFactor(context, account, input.totp_code)
    }
    await clearGuesses(guess)

    return async (context) => {
      await requireUnchanged(context.tx, account)
      const isNewIp = !(await hasSessionFrom(context.tx, account.id, context.request.ip))
      const session = await openSession(context, account.id)
      if (isNewIp) context.alert(account.id, { kind: 'new_sign_in', detail: session.ip })
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

type AnonymousContext = PreparingContext<null>

/** Message and response time are the same for a wrong password and an unknown email. */
async function requireAccount(
  context: AnonymousContext,
  input: { email: string; password: string },
): Promise<AccountRow> {
  const account = await findAccountByEmail(context.db, normalizeEmail(input.email))
  const hash = account?.password_hash
  const isCorrect = await isPasswordCorrect(input.password, hash, context.settings)
  if (!isCorrect || account === undefined) {
    if (account !== undefined) await auditFailure(context, account)
    throw invalidCredentials()
  }
  requireActive(account)
  return account
}

/**
 * Repeats the checks under the account's lock. A password change ends every session, so no session
 * may start afterwards with the old password; the same goes for two-factor and suspension.
 */
async function requireUnchanged(tx: Tx, checked: AccountRow): Promise<void> {
  const account = await lockAccount(tx, checked.id)
  if (account.password_hash !== checked.password_hash) throw invalidCredentials()
  requireActive(account)
  if (account.totp_status === 'enabled' && checked.totp_status !== 'enabled') throw totpRequired()
}

function requireActive(account: AccountRow): void {
  if (account.status === 'suspended') throw accountSuspended()
}

const invalidCredentials = () => new Problem('invalid_credentials', 'Incorrect email or password.')

/** Runs in a transaction of its own: the code is consumed even if the sign-in fails later. */
async function requireSecondFactor(
  context: AnonymousContext,
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

function auditFailure(context: AnonymousContext, account: AccountRow): Promise<void> {
  return context.auditRefusal(account.id, {
    action: 'session.failed',
    result: 'failure',
    resource: { type: 'account', id: account.id },
  })
}
