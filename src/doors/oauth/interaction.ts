import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import { requestContextOf } from '#doors/request_context.ts'
import type { Runtime } from '#operations/runtime.ts'
import { decide, showConsent } from './consent.ts'
import { errorText } from './error_page.ts'
import { pinned } from './handover.ts'
import { deny, type InteractionContext, sendPage } from './interaction_context.ts'
import { errors } from './library.ts'
import { redirectOf } from './redirect.ts'
import { checkCode, checkPassword, showSignIn } from './sign_in.ts'
import { switchAccount } from './switch_account.ts'

export async function visit(
  runtime: Runtime,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    const opened = await openVisit(runtime, provider, request, reply)
    if (request.method === 'POST') return await submit(opened)
    return opened.interaction.prompt.name === 'login' ? showSignIn(opened) : showConsent(opened)
  } catch (cause) {
    if (!(cause instanceof errors.OIDCProviderError)) throw cause
    return sendPage(reply, 400, errorText(cause.error, cause.error_description ?? ''))
  }
}

/** Requires the cookie of the browser that started the request: the link alone is not enough. */
async function openVisit(
  runtime: Runtime,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<InteractionContext> {
  const req = pinned(runtime.settings, request, {})
  const interaction = await provider.interactionDetails(req, reply.raw)
  const { uid } = request.params as { uid: string }
  if (interaction.uid !== uid) throw new errors.SessionNotFound('this page belongs to another try')
  const client = await provider.Client.find(String(interaction.params['client_id']))
  if (client === undefined) throw new errors.InvalidClient('the client is gone')
  return {
    runtime,
    provider,
    request,
    reply,
    req,
    facts: requestContextOf(runtime, request),
    interaction,
    client_name: client.clientName ?? 'An app without a name',
    redirect: redirectOf(String(interaction.params['redirect_uri'])),
    csrf: runtime.keys.credentialHash('oauth_csrf', uid),
    form: new URLSearchParams((request.body as Buffer | undefined)?.toString('utf8') ?? ''),
  }
}

async function submit(opened: InteractionContext): Promise<FastifyReply> {
  const { form, runtime, interaction } = opened
  requireOwnForm(opened)
  const own = runtime.keys.credentialHashes('oauth_csrf', interaction.uid)
  if (!own.includes(form.get('csrf') ?? '')) throw new errors.InvalidRequest('the form is not ours')
  const isSignIn = interaction.prompt.name === 'login'
  switch (form.get('step')) {
    case 'deny':
      return isSignIn ? deny(opened) : decide(opened, 'deny')
    case 'switch':
      return switchAccount(opened)
    case 'sign_in':
      return isSignIn ? checkPassword(opened) : showConsent(opened)
    case 'code':
      return isSignIn ? checkCode(opened) : showConsent(opened)
    default:
      return isSignIn ? showSignIn(opened) : decide(opened, 'allow')
  }
}

/** Checks the Origin in addition to the CSRF token. */
function requireOwnForm({ request, runtime }: InteractionContext): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  const isForeign = origin !== undefined && origin !== 'null' && !isOurs(runtime, origin)
  if (isForeign || site === 'cross-site') {
    throw new errors.InvalidRequest('the form was sent from another site')
  }
}

function isOurs({ settings }: Runtime, origin: string): boolean {
  return origin === new URL(settings.public_url).origin
}
