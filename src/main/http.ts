import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { malformedRequest, methodNotAllowed, routeNotFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { followResponses, readBody } from '#doors/read_body.ts'
import { sendProblem } from '#doors/send_problem.ts'
import { isOpenedInBrowser, sendNotFoundPage } from '#doors/site/not_found_page.ts'
import { problemOf, problemResponse } from '#operations/problem_response.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { limitAnonymous } from './anonymous_limits.ts'
import { CONNECTIONS, type ConnectionLimits, limitConnections } from './connection_limits.ts'
import { recordMethods } from './known_methods.ts'

const REQUEST_TIMEOUT_MS = 30_000
/** 100 MB over a slow line. An upload that stalls is cut off sooner, by its own reader. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000
const KEEP_ALIVE_MS = 72_000

const REFUSED_BODIES = new Set(['payload_too_large', 'service_unavailable'])

/** The HTTP server with its limits; doors mount their routes on it. */
export function makeHttpServer(
  runtime: Runtime,
  connections: ConnectionLimits = CONNECTIONS,
): FastifyInstance {
  const { trusted_proxies } = runtime.settings
  const app = fastify({
    logger: false,
    genReqId: () => runtime.newId('req', runtime.clock.now()),
    requestTimeout: UPLOAD_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false },
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    trustProxy: trusted_proxies.length > 0 ? [...trusted_proxies] : false,
    routerOptions: { maxParamLength: 1_000 },
    clientErrorHandler: (cause, socket) => refuseMalformed(runtime, socket as Socket, cause),
    frameworkErrors: (cause, request, reply) =>
      sendProblem(runtime, request, reply as unknown as FastifyReply, httpProblem(cause)),
  })
  // Bodies stay bytes until the caller is authenticated: the pipeline parses JSON.
  app.removeAllContentTypeParsers()
  // JSON has its own entry: Fastify parses the content type of `*` for every request, 4 % of a
  // refused POST (`npm run bench -- http`).
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, (request: FastifyRequest) => readBody(runtime, request))
  }
  limitConnections(app.server, connections, trusted_proxies.length > 0)
  followResponses(app.server)
  refuseBadRequests(app)
  limitAnonymous(app, runtime)
  limitBodyTime(app, runtime)
  const methodsAt = recordMethods(app)
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsAt(pathOf(request.url))
    if (allowed.length === 0 && isOpenedInBrowser(request)) return sendNotFoundPage(reply)
    if (allowed.length > 0) reply.header('Allow', allowed.join(', '))
    return sendProblem(runtime, request, reply, unservedProblem(request.method, allowed))
  })
  app.setErrorHandler((cause, request, reply) => {
    const problem = httpProblem(cause)
    if (problem.status === 500) {
      const fields = { method: request.method, request_id: request.id }
      runtime.log.error('a request failed', fields, problem.cause)
    }
    // Fastify would close the connection while the client is still sending and cannot read the
    // response. Instead the rest of the body is discarded, within the usual time limit.
    if (REFUSED_BODIES.has(problem.code)) reply.removeHeader('connection')
    return sendProblem(runtime, request, reply, problem)
  })
  closeIdleOnShutdown(app)
  return app
}

/**
 * Refusals for all doors: a path with a null character, which PostgreSQL rejects, a compressed
 * body, which would be read as it is, and requests without Host or with an unknown Expect, which
 * Node would refuse without a body.
 */
function refuseBadRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw, url }, reply, done) => {
    const isNamed = raw.headers.host !== undefined || raw.httpVersion !== '1.1'
    if (!isNamed) return done(new Problem('invalid_request', 'The Host header is missing.'))
    const coding = raw.headers['transfer-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      // Prevents request smuggling: a proxy may disagree with us about the end of the body.
      reply.header('Connection', 'close')
      return done(new Problem('invalid_request', 'The only supported transfer coding is chunked.'))
    }
    const encoding = raw.headers['content-encoding'] ?? 'identity'
    if (encoding.toLowerCase() !== 'identity') {
      const sentence = `Send the body uncompressed. ${encoding} is not supported.`
      return done(new Problem('unsupported_media_type', sentence))
    }
    const hasNull = url.includes('%00') && pathOf(url).includes('%00')
    done(hasNull ? new Problem('not_found', 'No object has this ID.') : undefined)
  })
  app.server.on('checkExpectation', (request, reply) => app.server.emit('request', request, reply))
}

const CLOSE_IDLE_EVERY_MS = 100

/** During shutdown, closes connections when their request ends, instead of after a minute. */
function closeIdleOnShutdown(app: FastifyInstance): void {
  app.addHook('preClose', async () => {
    const timer = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    app.server.once('close', () => clearInterval(timer))
  })
}

const LATE_CHECK_EVERY_MS = 1_000

/**
 * A body must arrive within the request timeout, except on routes that accept streams. Most bodies
 * arrive in the same turn of the event loop as their headers. One timer checks the others, oldest
 * first: a timer per body costs 10 % of a refused POST (`npm run bench -- http`).
 */
function limitBodyTime(app: FastifyInstance, runtime: Runtime): void {
  const { clock } = runtime
  const arriving = new Map<IncomingMessage, number>()
  let this_turn: FastifyRequest[] = []
  const watch = () => {
    for (const request of this_turn) {
      const { raw } = request
      if (raw.complete || 'streams' in request.routeOptions.config) continue
      arriving.set(raw, clock.monotonic())
      raw.once('end', () => arriving.delete(raw))
    }
    this_turn = []
  }
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw
    const hasBody = 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
    if (hasBody) {
      if (this_turn.length === 0) setImmediate(watch)
      this_turn.push(request)
    }
    done()
  })
  const refuseLateBodies = () => {
    const late = clock.monotonic() - REQUEST_TIMEOUT_MS
    for (const [raw, since] of arriving) {
      if (since > late) break
      arriving.delete(raw)
      refuseLateBody(runtime, raw.socket)
    }
  }
  // Started on listen, so a server that never listens leaves no timer behind.
  app.addHook('onListen', async () => {
    const stop = clock.every(LATE_CHECK_EVERY_MS, refuseLateBodies)
    app.server.once('close', stop)
  })
}

/** Creates the error only now: a stack trace per body would cost more than most calls. */
function refuseLateBody(runtime: Runtime, socket: Socket): void {
  const late = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  void refuseMalformed(runtime, socket, late)
}

const pathOf = (url: string) => url.split('?', 1)[0] ?? ''

function unservedProblem(method: string, allowed: readonly string[]): Problem {
  if (allowed.length === 0) {
    return routeNotFound()
  }
  return methodNotAllowed(method, allowed.join(' or '))
}

/** Errors of the HTTP layer as problems of the contract. */
function httpProblem(cause: unknown): Problem {
  const code = (cause as { code?: unknown } | null)?.code
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new Problem('unsupported_media_type', 'Send the body as application/json.')
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return new Problem('not_found', 'No object has this ID.')
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_')) {
    return malformedRequest({ cause })
  }
  return problemOf(cause)
}

/** Responds to an unparsable request on the raw socket, in the usual format. */
async function refuseMalformed(
  runtime: Runtime,
  socket: Socket,
  cause: Error & { code?: string },
): Promise<void> {
  if (cause.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const id = runtime.newId('req', runtime.clock.now())
  const answer = problemResponse(malformedProblem(cause.code), id)
  const subject = rateSubjectOf(runtime, { ip: socket.remoteAddress ?? '' })
  const verdict = await runtime.limiter.peek(subject.key, subject.policies)
  const headers = {
    ...rateHeaders(subject, verdict),
    'Request-Id': id,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(answer.body)),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `${answer.status} ${STATUS_CODES[answer.status]}`
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${answer.body}`)
}

function malformedProblem(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('invalid_request', 'The request timed out.', { status: 408 })
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The URL and headers can have at most 16 KB.'
    return new Problem('invalid_request', message, { status: 431 })
  }
  return malformedRequest()
}
