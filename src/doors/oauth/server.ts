import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditContext } from '#domain/audit/audit.ts'
import { auditContextOf, systemAuditContext } from '#domain/audit/audit_context.ts'
import { networkOf, type RatePolicy } from '#domain/risk/rate_limit.ts'
import { limitRequest } from '#doors/limit_request.ts'
import { searchOf } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { JsonError, readJson } from '#kernel/json.ts'
import type { Runtime } from '#operations/runtime.ts'
import { serveInteraction } from './interaction.ts'
import { mountResourceMetadata } from './metadata.ts'
import { mountOwnGrants } from './own_grants.ts'
import { createProvider, INTERACTION_PATH } from './provider.ts'
import { delegateToProvider } from './provider_request.ts'
import { RegistrationError, validateClientMetadata } from './register.ts'
import { normalizeAuthorizeQuery, normalizeResources } from './requests.ts'
import { mountRevealCard } from './reveal_card.ts'
import { closeStepUp, STEP_UP_PATH, startStepUp } from './step_up.ts'
import { serveUndo } from './undo.ts'

/** Registration is open to anyone, so its rate is low (contract 5). */
const REGISTER_POLICIES: readonly RatePolicy[] = [
  { name: 'sustained', limit: 20, window_ms: 60_000 },
]

/** Routes that ignore cookies, so scripts may call them from any origin. */
const CORS_PATHS = [
  '/oauth/register',
  '/oauth/register/:clientId',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/jwks',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource/v1',
]

type Exchange = { request: FastifyRequest; reply: FastifyReply }

export function mountOauth(app: FastifyInstance, runtime: Runtime): void {
  const serving = new AsyncLocalStorage<FastifyRequest>()
  const provider = createProvider(runtime, () => auditContext(runtime, serving.getStore()))
  const { settings } = runtime
  const delegate = (request: FastifyRequest, reply: FastifyReply, overrides = {}) =>
    serving.run(request, () =>
      delegateToProvider(provider, settings, { request, reply }, overrides),
    )

  mountResourceMetadata(app, settings)
  mountOwnGrants(app, runtime)
  mountRevealCard(app, runtime)
  app.get('/oauth/authorize', (request, reply) => {
    const query = normalizeAuthorizeQuery(settings, new URLSearchParams(searchOf(request.url)))
    return delegate(request, reply, { url: `/oauth/authorize?${query}` })
  })
  app.get('/oauth/authorize/:uid', (request, reply) => delegate(request, reply))
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    app.post(path, async (request, reply) => {
      const text = (request.body as Buffer | undefined)?.toString('utf8') ?? ''
      const body = normalizeResources(settings, new URLSearchParams(text)).toString()
      await delegate(request, reply, { body })
    })
  }
  app.get('/oauth/jwks', (request, reply) => delegate(request, reply))
  app.get('/.well-known/oauth-authorization-server', (request, reply) => delegate(request, reply))
  app.get('/.well-known/openid-configuration', (request, reply) => delegate(request, reply))
  app.post('/oauth/register', (request, reply) =>
    register(runtime, { request, reply }, (body) => delegate(request, reply, { body })),
  )
  app.route({
    method: ['GET', 'DELETE'],
    url: '/oauth/register/:clientId',
    exposeHeadRoute: false,
    handler: (request, reply) => {
      allowAnyOrigin(reply)
      return delegate(request, reply)
    },
  })
  app.route({
    method: ['GET', 'POST'],
    url: `${INTERACTION_PATH}/:uid`,
    exposeHeadRoute: false,
    handler: (request, reply) =>
      serving.run(request, () => serveInteraction(runtime, provider, request, reply)),
  })
  app.get(STEP_UP_PATH, (request, reply) => startStepUp(runtime, request, reply))
  app.get(`${STEP_UP_PATH}/done`, (_request, reply) => closeStepUp(runtime, reply))
  app.route({
    method: ['GET', 'POST'],
    url: '/undo/:token',
    exposeHeadRoute: false,
    handler: (request, reply) => serveUndo(runtime, request, reply),
  })
  for (const path of CORS_PATHS) app.options(path, (_request, reply) => sendPreflight(reply))
}

function allowAnyOrigin(reply: FastifyReply): void {
  reply.header('Access-Control-Allow-Origin', '*')
}

function sendPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .header('Access-Control-Allow-Origin', '*')
    .header('Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS')
    .header('Access-Control-Allow-Headers', 'Authorization, Content-Type, Mcp-Protocol-Version')
    .header('Access-Control-Max-Age', '3600')
    .send()
}

/** Validates the registration before the library stores it. */
async function register(
  runtime: Runtime,
  { request, reply }: Exchange,
  store: (body: string) => Promise<void>,
): Promise<FastifyReply | undefined> {
  allowAnyOrigin(reply)
  const subject = { key: `register|${networkOf(request.ip)}`, policies: REGISTER_POLICIES }
  await limitRequest(runtime, reply, subject)
  try {
    const metadata = validateClientMetadata(readBody(request))
    await store(JSON.stringify(metadata))
    runtime.log.info('OAuth client registered', { ip: request.ip })
    return reply
  } catch (cause) {
    if (!(cause instanceof RegistrationError)) throw cause
    const { error, message } = cause
    return reply
      .code(400)
      .header('Cache-Control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ error, error_description: message }))
  }
}

function readBody(request: FastifyRequest): Record<string, unknown> {
  const invalid = (message: string) => new RegistrationError('invalid_client_metadata', message)
  try {
    const value = readJson((request.body as Buffer | undefined)?.toString('utf8') ?? '')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw invalid(`the body is not valid JSON: ${cause.message}`)
  }
  throw invalid('the body must be a JSON object')
}

/** A grant is ended by the client's request, or by the server itself. */
function auditContext(runtime: Runtime, request: FastifyRequest | undefined): AuditContext {
  if (request === undefined) return systemAuditContext(runtime)
  const request_context = requestContextOf(request)
  const audit = auditContextOf({
    ...runtime,
    caller: null,
    request: request_context,
    operation: null,
  })
  return { ...audit, actor_type: 'oauth_client' }
}
