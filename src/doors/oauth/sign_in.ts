import type { FastifyReply } from 'fastify'
import { finish, type InteractionContext, sendPage } from './interaction_context.ts'
import { signInPage } from './sign_in_page.ts'
import { switchAccount } from './switch_account.ts'
import {
  type EnteredCredentials,
  openCredentials,
  type SignInRefusal,
  sealCredentials,
  verifySignIn,
} from './verify_sign_in.ts'

type SignInPageState = { email?: string; error_message?: string; sealed_credentials?: string }

export function showSignIn(
  context: InteractionContext,
  state: SignInPageState = {},
  status = 200,
): FastifyReply {
  const { runtime, client_name, redirect, csrf } = context
  const { mode } = runtime.settings
  const text = signInPage({ mode, client_name, redirect, csrf, ...state })
  return sendPage(context.reply, status, text)
}

export function checkPassword(context: InteractionContext): Promise<FastifyReply> {
  const email = context.form.get('email') ?? ''
  const password = context.form.get('password') ?? ''
  return signIn(context, { email, password, entered_at: context.runtime.clock.now() })
}

export async function checkCode(context: InteractionContext): Promise<FastifyReply> {
  const credentials = openCredentials(context)
  if (credentials === null)
    return showSignIn(context, { error_message: 'Your session expired. Sign in again.' }, 400)
  return signIn(context, { ...credentials, totp_code: context.form.get('totp_code') ?? '' })
}

async function signIn(
  context: InteractionContext,
  entered: EnteredCredentials,
): Promise<FastifyReply> {
  const verified = await verifySignIn(context, entered)
  if ('problem_code' in verified) return showSignInError(context, entered, verified)
  const { account_id } = verified
  const signed_in = context.interaction.session?.accountId
  if (signed_in !== undefined && signed_in !== account_id) return switchAccount(context)
  // The time before the password check: a password change in between ends this sign-in too.
  const ts = entered.entered_at.getTime() / 1_000
  return finish(context, { login: { accountId: account_id, remember: false, ts } })
}

function showSignInError(
  context: InteractionContext,
  entered: EnteredCredentials,
  { problem_code, message }: SignInRefusal,
): FastifyReply {
  const { email } = entered
  switch (problem_code) {
    case 'totp_required':
      return showSignIn(context, { sealed_credentials: sealCredentials(context, entered) })
    case 'totp_invalid':
      return showSignIn(
        context,
        { sealed_credentials: sealCredentials(context, entered), error_message: message },
        401,
      )
    case 'invalid_request':
      return showSignIn(context, { email, error_message: 'Enter your email and password.' }, 400)
    default:
      return showSignIn(context, { email, error_message: message }, 401)
  }
}
