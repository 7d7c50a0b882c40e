import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { Problem } from '#contract/problem.ts'
import { answerProblem } from '#doors/answer.ts'
import type { Programme } from '#operations/programme.ts'
import { problemOf } from '#operations/refusal.ts'

export const BODY_BYTES_MAX = 26_214_400
const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 72_000

/** The HTTP server with its bounds; doors mount their routes on it. */
export function makeHttp(programme: Programme): FastifyInstance {
  const { trusted_proxies } = programme.settings
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    trustProxy: trusted_proxies.length > 0 ? [...trusted_proxies] : false,
    routerOptions: { maxParamLength: 1_000 },
    clientErrorHandler: (cause, socket) => refuseMalformed(socket as Socket, cause),
  })
  // Bodies stay bytes until the caller is known: JSON is read inside the pipeline.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setNotFoundHandler((request, reply) =>
    answerProblem(
      programme,
      request,
      reply,
      new Problem('route_not_found', 'There is nothing at this address.'),
    ),
  )
  app.setErrorHandler((cause, request, reply) => {
    const problem = problemOf(httpProblem(cause))
    if (problem.status === 500) programme.log.error('a request failed', {}, problem.cause)
    return answerProblem(programme, request, reply, problem)
  })
  return app
}

/** What the HTTP layer itself refuses, in the contract's words. */
function httpProblem(cause: unknown): unknown {
  const code = (cause as { code?: unknown }).code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('payload_too_large', 'A body may have at most 25 MB.')
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_')) {
    return new Problem('invalid_request', 'The request cannot be read as HTTP.', { cause })
  }
  return cause
}

/** Not even a request: answered on the bare socket, in the same shape. */
function refuseMalformed(socket: Socket, cause: Error & { code?: string }): void {
  if (cause.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isTooSlow = cause.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const status = isTooSlow ? 408 : cause.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  const message = isTooSlow
    ? 'The request did not arrive in time.'
    : 'The request cannot be read as HTTP.'
  const body = JSON.stringify({ error: 'invalid_request', message })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
