import type { FastifyReply } from 'fastify'
import { opt_in_scopes, type Scope } from '#contract/scopes.ts'
import { confirmPage } from './confirm_page.ts'
import { type InteractionContext, sendPage } from './interaction_context.ts'
import { openCarried, sealCarried, type TypedIn, verifySignIn } from './verify_sign_in.ts'

/** These scopes can be granted for this long after the password was entered (contract 10.1). */
const RECENT_MS = 5 * 60_000
const GUARDED = opt_in_scopes

const isRecent = ({ runtime }: InteractionContext, at: Date) =>
  runtime.clock.now().getTime() - at.getTime() <= RECENT_MS

type Confirmed = {
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
  visit: InteractionContext,
  confirmed: Confirmed,
): Promise<FastifyReply | null> {
  const { account_id, email, granted, signed_in_at } = confirmed
  const guarded = granted.filter((scope) => GUARDED.includes(scope))
  if (guarded.length === 0 || isRecent(visit, signed_in_at)) return null
  const typed = typedIn(visit, email)
  if (typed === null) return show(visit, { email, guarded })
  const verified = await verifySignIn(visit, typed)
  if ('account_id' in verified && verified.account_id === account_id) return null
  const { error, message } = {
    error: '',
    message: 'Your session expired. Sign in again.',
    ...verified,
  }
  const carried =
    error === 'totp_required' || error === 'totp_invalid'
      ? { carried: sealCarried(visit, typed) }
      : {}
  if (error === 'totp_required') return show(visit, { email, guarded, ...carried })
  return show(visit, { email, guarded, ...carried, complaint: message }, 401)
}

/** A two-factor code is valid only with a password that was recently entered on the page before. */
function typedIn(visit: InteractionContext, email: string): TypedIn | null {
  const { form, runtime } = visit
  if (form.get('step') !== 'confirm') return null
  if (!form.has('carried')) {
    const password = form.get('password') ?? ''
    return password === '' ? null : { email, password, entered_at: runtime.clock.now() }
  }
  const carried = openCarried(visit)
  if (carried === null || !isRecent(visit, carried.entered_at)) return null
  return { ...carried, totp_code: form.get('totp_code') ?? '' }
}

type Shown = { email: string; guarded: readonly Scope[]; complaint?: string; carried?: string }

function show(visit: InteractionContext, shown: Shown, status = 200): FastifyReply {
  const { runtime, client_name, csrf, form, reply } = visit
  const chosen = [...form].filter(([name]) => ['scope', 'cards', 'card'].includes(name))
  const { mode } = runtime.settings
  return sendPage(reply, status, confirmPage({ mode, client_name, csrf, chosen, ...shown }))
}
