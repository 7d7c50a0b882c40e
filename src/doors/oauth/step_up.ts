import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientMetadata } from 'oidc-provider'
import { resourceUrl } from '#domain/credentials/resource.ts'
import { findStepUp } from '#domain/oauth_grants/step_up_request.ts'
import { runtimeOfId } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import type { Settings } from '#settings/settings.ts'
import { sendPage } from './interaction_context.ts'
import { closedStepUpPage, expiredStepUpPage } from './step_up_page.ts'

export const STEP_UP_PATH = '/oauth/step_up'
const DONE_PATH = `${STEP_UP_PATH}/done`

/** Our own client: the pages sign the owner in for it, and it never receives a code. */
export const STEP_UP_CLIENT_ID = 'florin_step_up'

const doneUrl = ({ public_url }: Settings) => public_url + DONE_PATH

export const stepUpClient = (settings: Settings): ClientMetadata => ({
  client_id: STEP_UP_CLIENT_ID,
  redirect_uris: [doneUrl(settings)],
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

/** The link of an elicitation: starts sign-in and consent like any authorization request. */
export async function startStepUp(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { settings } = runtime
  const { request: sealed } = request.query as { request?: unknown }
  const found = await findStepUp(runtime, sealed, (id) => runtimeOfId(runtime, id).db)
  if (found === undefined) return sendPage(reply, 410, expiredStepUpPage(settings.mode))
  const query = new URLSearchParams({
    client_id: STEP_UP_CLIENT_ID,
    response_type: 'code',
    redirect_uri: doneUrl(settings),
    scope: found.request.missing.join(' '),
    resource: resourceUrl(settings, 'mcp'),
    state: String(sealed),
    // The library requires a challenge; no code is issued, so nobody needs its verifier.
    code_challenge: createHash('sha256').update(String(sealed)).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return reply.redirect(`/oauth/authorize?${query}`, 303)
}

/** The library sends the browser here if the owner cancels instead of signing in. */
export function closeStepUp({ settings }: Runtime, reply: FastifyReply): FastifyReply {
  return sendPage(reply, 200, closedStepUpPage(settings.mode, null))
}
