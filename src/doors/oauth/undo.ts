import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import { prepareUndo } from '#domain/accounts/undo_change.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import { findUndo } from '#domain/credentials/security_undo.ts'
import { html } from '#doors/markup.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import { collectTrail, writeTrail } from '#operations/perform/trail.ts'
import type { Runtime } from '#operations/runtime.ts'
import { sendPage } from './interaction_context.ts'
import { page } from './page.ts'

/** The undo link in a security email. GET changes nothing, because mail scanners open links. */
export async function serveUndo(
  home: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { token } = request.params as { token: string }
  const runtime = runtimeOfBearer(home, token)
  try {
    if (request.method === 'POST') {
      const form = new URLSearchParams((request.body as Buffer | undefined)?.toString('utf8') ?? '')
      await undo(runtime, request, { token, password: form.get('password') ?? '' })
      return sendPage(reply, 200, donePage(runtime))
    }
    const { db, clock } = runtime
    const found = await findUndo(db, runtime, { token, now: clock.now() })
    const text = found === undefined ? expiredPage(runtime) : undoFormPage(runtime, found.email)
    return sendPage(reply, found === undefined ? 410 : 200, text)
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause
    const isExpired = cause.status === 410
    return sendPage(
      reply,
      cause.status,
      isExpired ? expiredPage(runtime) : undoFormPage(runtime, null, cause.message),
    )
  }
}

async function undo(
  runtime: Runtime,
  request: FastifyRequest,
  input: { token: string; password: string },
): Promise<void> {
  const { db, clock } = runtime
  const run = await prepareUndo(runtime, input)
  const request_context = requestContextOf(request)
  const account_id = await db.transaction(async (tx) => {
    const trail = collectTrail()
    const id = await run({ tx, now: clock.now(), audit: trail.audit, alert: trail.alert })
    await notifyCredentialsChanged(tx, id)
    await writeTrail(runtime, tx, trail, {
      caller: null,
      operator: null,
      request: request_context,
      operation: 'undo_change',
    })
    return id
  })
  runtime.credentials.forget(account_id)
}

function undoFormPage({ settings }: Runtime, email: string | null, error_message?: string): string {
  return page(
    'Recover your account',
    settings.mode,
    html`<h1>Recover your account</h1>
<p>Choose a new password${email !== null && html` for <span class="host">${email}</span>`}.
This turns two-factor authentication off, restores your email address, signs out every device and
pauses withdrawals for a while.</p>
${error_message !== undefined && html`<p class="warn" role="alert">${error_message}</p>`}
<form method="post">
<label class="field">New password
<input type="password" name="password" autocomplete="new-password" minlength="8" required autofocus>
</label>
<div class="buttons"><button class="main">Set password and undo the change</button></div>
</form>`,
  )
}

function donePage({ settings }: Runtime): string {
  return page(
    'Your account is recovered',
    settings.mode,
    html`<h1>Your account is recovered</h1>
<p>The change was undone and every device was signed out. Sign in with your new password, then
revoke the API keys, apps and webhooks that you don’t recognize.</p>
<p><a href="${settings.public_url}/">Sign in</a></p>`,
  )
}

function expiredPage({ settings }: Runtime): string {
  return page(
    'This link has expired',
    settings.mode,
    html`<h1>This link has expired</h1>
<p>Links like this work once, for 72 hours. If you can’t sign in, contact support.</p>
<p><a href="${settings.public_url}/">Sign in</a></p>`,
  )
}
