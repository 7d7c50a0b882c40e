import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import type { StepUp } from '#domain/oauth_grants/step_up_request.ts'
import type { Call } from '#operations/call.ts'
import type { Runtime } from '#operations/runtime.ts'
import { page_headers } from './page.ts'
import { hijackReply } from './provider_request.ts'
import type { Redirect } from './redirect.ts'

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

/** A user's authorization request in progress. */
export type InteractionContext = {
  /** Of the signed-in account's cell. */
  runtime: Runtime
  provider: Provider
  request: FastifyRequest
  reply: FastifyReply
  /** The request for the library, with cookies. */
  req: IncomingMessage
  request_context: Call['request']
  interaction: Interaction
  client_name: string
  /** Null for the authorization request of a client. */
  step_up: StepUp | null
  redirect: Redirect
  csrf: string
  form: URLSearchParams
}

export function deny(context: InteractionContext): Promise<FastifyReply> {
  const error_description = 'the account owner denied access'
  return finish(context, { error: 'access_denied', error_description })
}

/** Returns control to the library, which continues the request or redirects to the client. */
export async function finish(
  { provider, reply, req }: InteractionContext,
  result: Parameters<Provider['interactionFinished']>[2],
): Promise<FastifyReply> {
  hijackReply(reply)
  await provider.interactionFinished(req, reply.raw, result, { mergeWithLastSubmission: true })
  return reply
}

export function sendPage(
  reply: FastifyReply,
  status: number,
  text: string,
  headers = page_headers,
): FastifyReply {
  return reply.code(status).headers(headers).send(text)
}
