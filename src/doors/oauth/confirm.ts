import type { FastifyReply } from 'fastify'
import { opt_in_scopes, type Scope } from '#contract/scopes.ts'
import { budget_field_names } from './budget_fields.ts'
import { confirmPage } from './confirm_page.ts'
import { type InteractionContext, sendPage } from './interaction_context.ts'
import {
  type EnteredCredentials,
  openCredentials,
  sealCredentials,
  verifySignIn,
} from './verify_sign_in.ts'

/** Guarded scopes can be granted for this long after the password was entered (contract 10.1). */
const RECENT_MS = 5 * 60_000
const GUARDED_SCOPES = opt_in_scopes

const isRecent = ({ runtime }: InteractionContext, at: Date) =>
  runtime.clock.now().getTime() - at.getTime() <= RECENT_MS

type PendingConsent = {
  account_id: string
  email: string
  granted: readonly Scope[]
  signed_in_at: Date
}

/**
 * Asks for the password (and the two-factor code) again before granting guarded scopes if the
 * sign-in is too old: an unattended browser must not grant access to money or card numbers. Null if
 * no confirmation is needed.
 */
export async function confirmSignIn(
  context: InteractionContext,
  consent: PendingConsent,
): Promise<FastifyReply | null> {
  const { account_id, email, granted, signed_in_at } = consent
  const guarded = granted.filter((scope) => GUARDED_SCOPES.includes(scope))
  if (guarded.length === 0 || isRecent(context, signed_in_at)) return null
  const entered = enteredCredentials(context, email)
  if (entered === null) return sendConfirmPage(context, { email, guarded })
  const verified = await verifySignIn(context, entered)
  if ('account_id' in verified && verified.account_id === account_id) return null
  const { problem_code, message } = {
    problem_code: null,
    message: 'Your session expired. Sign in again.',
    ...verified,
  }
  const needsCode = problem_code === 'totp_required' || problem_code === 'totp_invalid'
  const page = {
    email,
    guarded,
    ...(needsCode && { sealed_credentials: sealCredentials(context, entered) }),
  }
  if (problem_code === 'totp_required') return sendConfirmPage(context, page)
  return sendConfirmPage(context, { ...page, error_message: message }, 401)
}

/** A two-factor code is valid only with a password that was recently entered on the page before. */
function enteredCredentials(context: InteractionContext, email: string): EnteredCredentials | null {
  const { form, runtime } = context
  if (form.get('step') !== 'confirm') return null
  if (!form.has('sealed_credentials')) {
    const password = form.get('password') ?? ''
    return password === '' ? null : { email, password, entered_at: runtime.clock.now() }
  }
  const credentials = openCredentials(context)
  if (credentials === null || !isRecent(context, credentials.entered_at)) return null
  return { ...credentials, totp_code: form.get('totp_code') ?? '' }
}

type ConfirmPageState = {
  email: string
  guarded: readonly Scope[]
  error_message?: string
  sealed_credentials?: string
}

function sendConfirmPage(
  context: InteractionContext,
  state: ConfirmPageState,
  status = 200,
): FastifyReply {
  const { runtime, client_name, csrf, form, reply } = context
  const kept = ['scope', 'cards', 'card', ...budget_field_names]
  const consent_fields = [...form].filter(([name]) => kept.includes(name))
  const { mode } = runtime.settings
  return sendPage(reply, status, confirmPage({ mode, client_name, csrf, consent_fields, ...state }))
}
