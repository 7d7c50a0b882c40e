import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { malformedRequest, methodNotAllowed, routeNotFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { followResponses, readBody } from '#doors/read_body.ts'
import { sendProblem } from '#doors/send_problem.ts'
import { problemOf, problemResponse } from '#operations/problem_response.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { limitAnonymous } from './anonymous_limits.ts'
import { CONNECTIONS, type ConnectionLimits, limitConnections } from './connection_limits.ts'
import { recordMethods } from './known_methods.ts'

const REQUEST_TIMEOUT_MS = 30_000
/** 100 MB over a slow line. What stands still meanwhile is cut off sooner, by its own reader. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000
const KEEP_ALIVE_MS = 72_000

const REFUSED_BODIES = new Set(['payload_too_large', 'service_unavailable'])

/** The HTTP server with its bounds; doors mount their routes on it. */
export function makeHttp(
  runtime: Runtime,
  connections: ConnectionLimits = CONNECTIONS,
): FastifyInstance {
  const { trusted_proxies } = runtime.settings
  const app = fastify({
    logger: false,
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
  // Bodies stay bytes until the caller is known: JSON is read inside the pipeline.
  app.removeAllContentTypeParsers()
  // JSON by its name too: what only `*` takes has its type read anew for every request.
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, (request: FastifyRequest) => readBody(runtime, request))
  }
  limitConnections(app.server, connections, trusted_proxies.length > 0)
  followResponses(app.server)
  refuseInOurWords(app)
  limitAnonymous(app, runtime)
  limitBodyTime(app, runtime)
  const methodsAt = recordMethods(app)
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsAt(pathOf(request.url))
    if (allowed.length > 0) reply.header('Allow', allowed.join(', '))
    return sendProblem(runtime, request, reply, unserved(request.method, allowed))
  })
  app.setErrorHandler((cause, request, reply) => {
    const problem = httpProblem(cause)
    if (problem.status === 500) runtime.log.error('a request failed', {}, problem.cause)
    // The framework would close on a sender that is still sending and could not read the response.
    // The rest of the body is read into nothing instead, for as long as any body may take.
    if (REFUSED_BODIES.has(problem.code)) reply.removeHeader('connection')
    return sendProblem(runtime, request, reply, problem)
  })
  closeConnectionsAsTheyIdle(app)
  return app
}

/**
 * What no door should have to think of: a path with a null character, which the database would
 * choke on; and two refusals that Node would send without a word, no Host and an odd Expect.
 */
function refuseInOurWords(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw, url }, reply, done) => {
    const isNamed = raw.headers.host !== undefined || raw.httpVersion !== '1.1'
    if (!isNamed) return done(new Problem('invalid_request', 'The Host header is missing.'))
    const coding = raw.headers['transfer-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      // Where a proxy and we disagree on the end of a body, the next request is somebody else's.
      reply.header('Connection', 'close')
      return done(new Problem('invalid_request', 'The only supported transfer coding is chunked.'))
    }
    const hasNull = url.includes('%00') && pathOf(url).includes('%00')
    done(hasNull ? new Problem('not_found', 'No object has this ID.') : undefined)
  })
  app.server.on('checkExpectation', (request, reply) => app.server.emit('request', request, reply))
}

const CLOSING_BEAT_MS = 100

/** A request in flight leaves its connection open behind it; without this, for over a minute. */
function closeConnectionsAsTheyIdle(app: FastifyInstance): void {
  app.addHook('preClose', async () => {
    const beat = setInterval(() => app.server.closeIdleConnections(), CLOSING_BEAT_MS)
    app.server.once('close', () => clearInterval(beat))
  })
}

const LATE_BEAT_MS = 1_000

/**
 * Only a route that takes streams may take longer over a body than a request may take. Most bodies
 * come with their heads, in one turn of the event loop; one beat looks after those that do not, the
 * oldest first: a timer for each would cost more than its body.
 */
function limitBodyTime(app: FastifyInstance, runtime: Runtime): void {
  const { clock } = runtime
  const arriving = new Map<IncomingMessage, number>()
  let of_this_turn: FastifyRequest[] = []
  const watch = () => {
    for (const request of of_this_turn) {
      const { raw } = request
      if (raw.complete || 'streams' in request.routeOptions.config) continue
      arriving.set(raw, clock.monotonic())
      raw.once('end', () => arriving.delete(raw))
    }
    of_this_turn = []
  }
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw
    const hasBody = 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
    if (hasBody) {
      if (of_this_turn.length === 0) setImmediate(watch)
      of_this_turn.push(request)
    }
    done()
  })
  const refuseTheLate = () => {
    const late = clock.monotonic() - REQUEST_TIMEOUT_MS
    for (const [raw, since] of arriving) {
      if (since > late) break
      arriving.delete(raw)
      refuseLate(runtime, raw.socket)
    }
  }
  // Begun with the listening: what never listens must leave no beat behind.
  app.addHook('onListen', async () => {
    const stop = clock.every(LATE_BEAT_MS, refuseTheLate)
    app.server.once('close', stop)
  })
}

/** Its error is made when it is needed: a stack for every body would cost more than most calls. */
function refuseLate(runtime: Runtime, socket: Socket): void {
  const late = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  void refuseMalformed(runtime, socket, late)
}

const pathOf = (url: string) => url.split('?', 1)[0] ?? ''

function unserved(method: string, allowed: readonly string[]): Problem {
  if (allowed.length === 0) {
    return routeNotFound()
  }
  return methodNotAllowed(method, allowed.join(' or '))
}

/** What the HTTP layer itself refuses, in the contract's words. */
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

/** Not even a request: answered on the bare socket, in the same shape. */
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
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  return malformedRequest({ status })
}
