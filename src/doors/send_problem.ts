import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '#contract/problem.ts'
import { problemResponse } from '#operations/problem_response.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'

/** Sends a problem of a request that reached no operation, in the same form as the others. */
export async function sendProblem(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): Promise<FastifyReply> {
  const { id } = request
  // The route may have counted the request on a limit of its own.
  const standard = reply.hasHeader('RateLimit') ? {} : await standardHeaders(runtime, request)
  const response = problemResponse(problem, id)
  runtime.log.info('refused', {
    method: request.method,
    status: response.status,
    error: problem.code,
    request_id: id,
    ip: request.ip,
  })
  return reply
    .code(response.status)
    .headers({ 'Request-Id': id, ...response.headers, ...standard })
    .type('application/json; charset=utf-8')
    .send(response.body)
}

/** Headers of every response: its request ID and the rate limit of the IP address. */
export async function standardHeaders(
  runtime: Runtime,
  request: FastifyRequest,
): Promise<Record<string, string>> {
  const subject = rateSubjectOf(runtime, { ip: request.ip })
  const verdict = await runtime.limiter.peek(subject.key, subject.policies)
  return { ...rateHeaders(subject, verdict), 'Request-Id': request.id }
}
