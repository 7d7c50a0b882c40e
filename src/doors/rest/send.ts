import type { FastifyReply } from 'fastify'
import type { Operation } from '#contract/operation.ts'
import { pipeline_operations } from '#contract/operator/operations.ts'
import { challenge, stepUp } from '#doors/challenge.ts'
import type { Call, Response } from '#operations/call.ts'
import type { Runtime } from '#operations/runtime.ts'

export function send(
  { settings }: Runtime,
  reply: FastifyReply,
  call: Call,
  response: Response,
): FastifyReply {
  const { status, problem_code, body, headers } = response
  const { access, never_stored }: Operation = pipeline_operations[call.operation]
  reply.code(status).headers(headers).header('Request-Id', call.request.id)
  if (status === 401) reply.header('WWW-Authenticate', challenge(settings, 'rest', response))
  if (problem_code === 'insufficient_scope') {
    reply.header('WWW-Authenticate', stepUp(settings, 'rest'))
  }
  if (access === 'anyone' || never_stored) reply.header('Cache-Control', 'no-store')
  if (body === '') return reply.send()
  return reply.type('application/json; charset=utf-8').send(body)
}
