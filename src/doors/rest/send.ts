import type { FastifyReply } from 'fastify'
import { operations } from '#contract/operations.ts'
import { challenge, isAboutScope, stepUp } from '#doors/challenge.ts'
import type { Answer, Call } from '#operations/call.ts'
import type { Runtime } from '#operations/runtime.ts'

export function send(
  { settings }: Runtime,
  reply: FastifyReply,
  call: Call,
  answer: Answer,
): FastifyReply {
  const { status, body, headers } = answer
  reply.code(status).headers(headers).header('Request-Id', call.request.id)
  if (status === 401) reply.header('WWW-Authenticate', challenge(settings, 'rest', answer))
  if (isAboutScope(answer)) reply.header('WWW-Authenticate', stepUp(settings, 'rest'))
  if (
    operations[call.operation].access === 'anyone' ||
    'never_stored' in operations[call.operation]
  ) {
    reply.header('Cache-Control', 'no-store')
  }
  if (body === '') return reply.send()
  return reply.type('application/json; charset=utf-8').send(body)
}
