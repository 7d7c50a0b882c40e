import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem, type ProblemCode, problem_statuses } from '#contract/problem.ts'
import type { CallResponse, Surface } from '#domain/context/surface.ts'
import { JsonError, readJson } from '#kernel/json.ts'
import { sandboxInbox } from './inbox.ts'

/** Sandbox endpoints that trigger external events. They use the same bearers as the API. */
export const sandboxControl: Surface = (app: FastifyInstance, host) => {
  sandboxInbox(app, host)
  app.post('/sandbox/v1/clock/advance', async (request) => {
    await host.callerOf(request.headers.authorization)
    const seconds = parseSeconds(readBody(request))
    const now = await host.advanceClock(seconds)
    return { now: now.toISOString(), offset_seconds: host.clock.offset_ms() / 1_000 }
  })
}

const SECONDS_MAX = 10 * 366 * 24 * 60 * 60

/** Forward only: an expired object cannot become valid again. */
function parseSeconds(body: Record<string, unknown>): number {
  const { seconds, ...others } = body
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(other, 'is not recognized')
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= SECONDS_MAX)) {
    throw invalid('seconds', `must be a number above 0 and up to ${SECONDS_MAX}`)
  }
  return seconds
}

export function invalid(field: string, message: string): Problem {
  return new Problem('invalid_request', `${field} ${message}.`, { details: [{ field, message }] })
}

/** Forwards the service's response unchanged, including errors. */
export function forwardResponse(reply: FastifyReply, { status, body }: CallResponse): FastifyReply {
  const { request_id } = body
  if (typeof request_id === 'string') reply.header('Request-Id', request_id)
  return reply.code(status).send(body)
}

/** The body of a success; a refusal is thrown, so that it becomes the sandbox's own response. */
export function bodyOf({ status, body }: CallResponse): Record<string, unknown> {
  if (status < 300) return body
  const code = String(body['error'])
  const known = code in problem_statuses ? (code as ProblemCode) : 'internal_error'
  throw new Problem(known, String(body['message']), { status })
}

export function readBody(request: FastifyRequest): Record<string, unknown> {
  const text = (request.body as Buffer | undefined)?.toString('utf8') ?? ''
  try {
    const body = readJson(text === '' ? '{}' : text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
      return body as Record<string, unknown>
    }
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw new Problem('invalid_json', `The body is not valid JSON: ${cause.message}.`)
  }
  throw new Problem('invalid_request', 'The body must be a JSON object.')
}
