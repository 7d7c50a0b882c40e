import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import type { AuditContext } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import { networkOf, type RatePolicy } from '#domain/risk/rate_limit.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { JsonError, readJson } from '#kernel/json.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateHeaders } from '#operations/steps/limit_rate.ts'
import { handOver } from './handover.ts'
import { visit } from './interaction.ts'
import { mountResourceMetadata } from './metadata.ts'
import { mountOwnGrants } from './own_grants.ts'
import { INTERACTION_PATH, makeProvider } from './provider.ts'
import { clientMetadata, RegistrationError } from './register.ts'
import { authorizeQuery, withResources } from './requests.ts'
import { serveUndo } from './undo.ts'

/** Registration is open to anyone, so its rate is low (contract 5). */
const REGISTER_POLICIES: readonly RatePolicy[] = [
  { name: 'sustained', limit: 20, window_ms: 60_000 },
]

/** Routes that scripts may call from any origin, because they ignore cookies. */
const SHARED_PATHS = [
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

type Door = { runtime: Runtime; provider: Provider }
type Exchange = { request: FastifyRequest; reply: FastifyReply }

export function mountOauth(app: FastifyInstance, runtime: Runtime): void {
  const serving = new AsyncLocalStorage<FastifyRequest>()
  const provider = makeProvider(runtime, () => auditFacts(runtime, serving.getStore()))
  const { settings } = runtime
  const door: Door = { runtime, provider }
  const pass = (request: FastifyRequest, reply: FastifyReply, given = {}) =>
    serving.run(request, () => handOver(provider, settings, { request, reply }, given))

  mountResourceMetadata(app, settings)
  mountOwnGrants(app, runtime)
  app.get('/oauth/authorize', (request, reply) => {
    const query = authorizeQuery(settings, new URLSearchParams(searchOf(request.url)))
    return pass(request, reply, { url: `/oauth/authorize?${query}` })
  })
  app.get('/oauth/authorize/:uid', (request, reply) => pass(request, reply))
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    app.post(path, async (request, reply) => {
      const text = (request.body as Buffer | undefined)?.toString('utf8') ?? ''
      const body = withResources(settings, new URLSearchParams(text)).toString()
      await pass(request, reply, { body })
    })
  }
  app.get('/oauth/jwks', (request, reply) => pass(request, reply))
  app.get('/.well-known/oauth-authorization-server', (request, reply) => pass(request, reply))
  app.get('/.well-known/openid-configuration', (request, reply) => pass(request, reply))
  app.post('/oauth/register', (request, reply) =>
    register(door, { request, reply }, (body) => pass(request, reply, { body })),
  )
  app.route({
    method: ['GET', 'DELETE'],
    url: '/oauth/register/:clientId',
    exposeHeadRoute: false,
    handler: (request, reply) => {
      shareable(reply)
      return pass(request, reply)
    },
  })
  app.route({
    method: ['GET', 'POST'],
    url: `${INTERACTION_PATH}/:uid`,
    exposeHeadRoute: false,
    handler: (request, reply) =>
      serving.run(request, () => visit(runtime, provider, request, reply)),
  })
  app.route({
    method: ['GET', 'POST'],
    url: '/undo/:token',
    exposeHeadRoute: false,
    handler: (request, reply) => serveUndo(runtime, request, reply),
  })
  for (const path of SHARED_PATHS) app.options(path, (_request, reply) => preflight(reply))
}

function shareable(reply: FastifyReply): void {
  reply.header('Access-Control-Allow-Origin', '*')
}

function preflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .header('Access-Control-Allow-Origin', '*')
    .header('Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS')
    .header('Access-Control-Allow-Headers', 'Authorization, Content-Type, Mcp-Protocol-Version')
    .header('Access-Control-Max-Age', '3600')
    .send()
}

/** Validates the registration before the library sees and stores it. */
async function register(
  { runtime }: Door,
  { request, reply }: Exchange,
  store: (body: string) => Promise<void>,
): Promise<FastifyReply | undefined> {
  shareable(reply)
  const subject = { key: `register|${networkOf(request.ip)}`, policies: REGISTER_POLICIES }
  reply.headers(rateHeaders(subject, await limitRate(runtime, subject)))
  reply.header('Request-Id', requestContextOf(runtime, request).id)
  try {
    const given = readBody(request)
    const metadata = clientMetadata(given)
    await store(JSON.stringify(metadata))
    runtime.log.info('a client registered', { ip: request.ip })
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
  const wrong = (sentence: string) => new RegistrationError('invalid_client_metadata', sentence)
  try {
    const value = readJson((request.body as Buffer | undefined)?.toString('utf8') ?? '')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw wrong(`the body is not valid JSON: ${cause.message}`)
  }
  throw wrong('the body must be a JSON object')
}

function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/** Who ended a grant: the client with its request, or the server by a rule. */
function auditFacts(runtime: Runtime, request: FastifyRequest | undefined): AuditContext {
  const { clock, newId } = runtime
  const known = request === undefined ? null : requestContextOf(runtime, request)
  const stamp = () => {
    const created_at = clock.now()
    return { id: newId('aud', created_at), created_at }
  }
  if (known === null) return { ...NOBODY, stamp }
  const facts = { ...known, idempotency_key: null }
  const told = auditContextOf({ caller: null, request: facts, operation: '', clock, newId })
  return { ...told, actor_type: 'oauth_client', operation: null }
}

const NOBODY = {
  actor_type: 'system',
  actor_id: null,
  actor_name: null,
  operation: null,
  ip: null,
  user_agent: null,
  request_id: null,
} as const
