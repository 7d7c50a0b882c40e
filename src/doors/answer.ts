import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '#contract/problem.ts'
import { refusalAnswer } from '#operations/refusal.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { requestContextOf } from './request_context.ts'

/** For what never reached an operation: the same body and headers as any other refusal. */
export async function answerProblem(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): Promise<FastifyReply> {
  const standard = await standardHeaders(runtime, request)
  const id = standard['Request-Id']
  const answer = refusalAnswer(problem, id)
  runtime.log.info('refused', {
    method: request.method,
    status: answer.status,
    error: problem.code,
    request_id: id,
    ip: request.ip,
  })
  return reply
    .code(answer.status)
    .headers({ ...answer.headers, ...standard })
    .type('application/json; charset=utf-8')
    .send(answer.body)
}

/** What every answer carries: its own name, and how much its address may still ask. */
export async function standardHeaders(
  runtime: Runtime,
  request: FastifyRequest,
): Promise<Record<string, string> & { 'Request-Id': string }> {
  const { id } = requestContextOf(runtime, request)
  const subject = rateSubjectOf(runtime, null, { caller: null, ip: request.ip })
  const verdict = await runtime.limiter.peek(subject.key, subject.policies)
  return { ...rateHeaders(subject, verdict), 'Request-Id': id }
}
