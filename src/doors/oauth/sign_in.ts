import type { FastifyReply } from 'fastify'
import { finish, type InteractionContext, sendPage } from './interaction_context.ts'
import { signInPage } from './sign_in_page.ts'
import { switchAccount } from './switch_account.ts'
import { openCarried, sealCarried, type TypedIn, verifySignIn } from './verify_sign_in.ts'

type Shown = { email?: string; complaint?: string; carried?: string }

export function showSignIn(
  visit: InteractionContext,
  shown: Shown = {},
  status = 200,
): FastifyReply {
  const { runtime, client_name, redirect, csrf } = visit
  const { mode } = runtime.settings
  const text = signInPage({ mode, client_name, redirect, csrf, ...shown })
  return sendPage(visit.reply, status, text)
}

export function checkPassword(visit: InteractionContext): Promise<FastifyReply> {
  const email = visit.form.get('email') ?? ''
  const password = visit.form.get('password') ?? ''
  return signIn(visit, { email, password, entered_at: visit.runtime.clock.now() })
}

export async function checkCode(visit: InteractionContext): Promise<FastifyReply> {
  const carried = openCarried(visit)
  if (carried === null)
    return showSignIn(visit, { complaint: 'Your session expired. Sign in again.' }, 400)
  return signIn(visit, { ...carried, totp_code: visit.form.get('totp_code') ?? '' })
}

async function signIn(visit: InteractionContext, typed: TypedIn): Promise<FastifyReply> {
  const verified = await verifySignIn(visit, typed)
  if ('error' in verified) return complain(visit, typed, verified)
  const { account_id } = verified
  const signed_in = visit.interaction.session?.accountId
  if (signed_in !== undefined && signed_in !== account_id) return switchAccount(visit)
  // Time before the password check: a password change in between ends this sign-in too.
  const ts = typed.entered_at.getTime() / 1_000
  return finish(visit, { login: { accountId: account_id, remember: false, ts } })
}

function complain(
  visit: InteractionContext,
  typed: TypedIn,
  { error, message }: { error: string; message: string },
): FastifyReply {
  const { email } = typed
  switch (error) {
    case 'totp_required':
      return showSignIn(visit, { carried: sealCarried(visit, typed) })
    case 'totp_invalid':
      return showSignIn(visit, { carried: sealCarried(visit, typed), complaint: message }, 401)
    case 'invalid_request':
      return showSignIn(visit, { email, complaint: 'Enter your email and password.' }, 400)
    default:
      return showSignIn(visit, { email, complaint: message }, 401)
  }
}
