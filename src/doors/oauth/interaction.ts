import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import { requestContextOf } from '#doors/request_context.ts'
import type { Runtime } from '#operations/runtime.ts'
import { showConsent, submitConsent } from './consent.ts'
import { errorText } from './error_page.ts'
import { deny, type InteractionContext, sendPage } from './interaction_context.ts'
import { errors } from './library.ts'
import { providerRequest } from './provider_request.ts'
import { redirectOf } from './redirect.ts'
import { checkCode, checkPassword, showSignIn } from './sign_in.ts'
import { switchAccount } from './switch_account.ts'

export async function serveInteraction(
  runtime: Runtime,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    const context = await loadInteraction(runtime, provider, request, reply)
    if (request.method === 'POST') return await submit(context)
    return context.interaction.prompt.name === 'login' ? showSignIn(context) : showConsent(context)
  } catch (cause) {
    if (!(cause instanceof errors.OIDCProviderError)) throw cause
    return sendPage(reply, 400, errorText(cause.error, cause.error_description ?? ''))
  }
}

/** Requires the cookie of the browser that started the request: the link alone is not enough. */
async function loadInteraction(
  runtime: Runtime,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<InteractionContext> {
  const req = providerRequest(runtime.settings, request, {})
  const interaction = await provider.interactionDetails(req, reply.raw)
  const { uid } = request.params as { uid: string }
  if (interaction.uid !== uid)
    throw new errors.SessionNotFound('this page belongs to another request')
  const client = await provider.Client.find(String(interaction.params['client_id']))
  if (client === undefined) throw new errors.InvalidClient('the client no longer exists')
  return {
    runtime,
    provider,
    request,
    reply,
    req,
    request_context: requestContextOf(runtime, request),
    interaction,
    client_name: client.clientName ?? 'An app without a name',
    redirect: redirectOf(String(interaction.params['redirect_uri'])),
    csrf: runtime.keys.credentialHash('oauth_csrf', uid),
    form: new URLSearchParams((request.body as Buffer | undefined)?.toString('utf8') ?? ''),
  }
}

async function submit(context: InteractionContext): Promise<FastifyReply> {
  const { form, runtime, interaction } = context
  requireSameOrigin(context)
  const own = runtime.keys.credentialHashes('oauth_csrf', interaction.uid)
  if (!own.includes(form.get('csrf') ?? ''))
    throw new errors.InvalidRequest('the CSRF token is not valid')
  const isSignIn = interaction.prompt.name === 'login'
  switch (form.get('step')) {
    case 'deny':
      return isSignIn ? deny(context) : submitConsent(context, 'deny')
    case 'switch':
      return switchAccount(context)
    case 'sign_in':
      return isSignIn ? checkPassword(context) : showConsent(context)
    case 'code':
      return isSignIn ? checkCode(context) : showConsent(context)
    default:
      return isSignIn ? showSignIn(context) : submitConsent(context, 'allow')
  }
}

/** Checks the Origin in addition to the CSRF token. */
function requireSameOrigin({ request, runtime }: InteractionContext): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  const isForeign = origin !== undefined && origin !== 'null' && !isOwnOrigin(runtime, origin)
  if (isForeign || site === 'cross-site') {
    throw new errors.InvalidRequest('the form was sent from another site')
  }
}

function isOwnOrigin({ settings }: Runtime, origin: string): boolean {
  return origin === new URL(settings.public_url).origin
}
