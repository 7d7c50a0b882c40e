import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import { findStepUp, type StepUp } from '#domain/oauth_grants/step_up_request.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { runtimeOfId } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import { showConsent, submitConsent } from './consent.ts'
import { errorText } from './error_page.ts'
import { deny, type Interaction, type InteractionContext, sendPage } from './interaction_context.ts'
import { errors } from './library.ts'
import { providerRequest } from './provider_request.ts'
import { type Redirect, redirectOf } from './redirect.ts'
import { checkCode, checkPassword, showSignIn } from './sign_in.ts'
import { STEP_UP_CLIENT_ID } from './step_up.ts'
import { showStepUp, submitStepUp } from './step_up_consent.ts'
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
    return context.interaction.prompt.name === 'login' ? showSignIn(context) : show(context)
  } catch (cause) {
    if (!(cause instanceof errors.OIDCProviderError)) throw cause
    const { error, error_description } = cause
    const isExpired = cause instanceof errors.SessionNotFound
    const failed = { error, error_description, isExpired }
    return sendPage(reply, 400, errorText(runtime.settings.mode, failed))
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
  const step_up = await stepUpOf(runtime, interaction)
  const { client_name, redirect } = appOf(interaction, client, step_up)
  return {
    runtime: runtimeOfId(runtime, interaction.session?.accountId ?? ''),
    provider,
    request,
    reply,
    req,
    request_context: requestContextOf(request),
    interaction,
    client_name,
    step_up,
    redirect,
    csrf: runtime.keys.credentialHash('oauth_csrf', uid),
    form: new URLSearchParams((request.body as Buffer | undefined)?.toString('utf8') ?? ''),
  }
}

async function stepUpOf(runtime: Runtime, { params }: Interaction): Promise<StepUp | null> {
  if (params['client_id'] !== STEP_UP_CLIENT_ID) return null
  const step_up = await findStepUp(runtime, params['state'], (id) => runtimeOfId(runtime, id).db)
  if (step_up === undefined) throw new errors.SessionNotFound('the link has expired')
  return step_up
}

/** The app that asks, and where its access goes. */
function appOf(
  { params }: Interaction,
  client: { clientName?: string | undefined },
  step_up: StepUp | null,
): Pick<InteractionContext, 'client_name' | 'redirect'> {
  const name = step_up === null ? client.clientName : step_up.grant.client_name
  const redirect: Redirect =
    step_up === null ? redirectOf(String(params['redirect_uri'])) : { kind: 'none' }
  return { client_name: name ?? 'An app without a name', redirect }
}

const show = (context: InteractionContext) =>
  context.step_up === null ? showConsent(context) : showStepUp(context, context.step_up)

const decide = (context: InteractionContext, decision: 'allow' | 'deny') =>
  context.step_up === null
    ? submitConsent(context, decision)
    : submitStepUp(context, context.step_up, decision)

async function submit(context: InteractionContext): Promise<FastifyReply> {
  const { form, runtime, interaction } = context
  requireSameOrigin(context)
  const own = runtime.keys.credentialHashes('oauth_csrf', interaction.uid)
  if (!own.includes(form.get('csrf') ?? ''))
    throw new errors.InvalidRequest('the CSRF token is not valid')
  const isSignIn = interaction.prompt.name === 'login'
  switch (form.get('step')) {
    case 'deny':
      return isSignIn ? deny(context) : decide(context, 'deny')
    case 'switch':
      return switchAccount(context)
    case 'sign_in':
      return isSignIn ? checkPassword(context) : show(context)
    case 'code':
      return isSignIn ? checkCode(context) : show(context)
    default:
      return isSignIn ? showSignIn(context) : decide(context, 'allow')
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
