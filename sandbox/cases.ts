import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import type { SandboxHost, Surface } from '#domain/context/surface.ts'
import { forwardResponse, readBody } from './control.ts'

type Case = {
  path: string
  /** The operation that reads the object as the caller; an object it may not see is not found. */
  read: OperationName
  /** The path of the operator API. */
  action: string
}

const cases: readonly Case[] = [
  { path: '/disputes/:id/answer', read: 'get_dispute', action: '/disputes/:id/answer' },
  { path: '/disputes/:id/close', read: 'get_dispute', action: '/disputes/:id/close' },
  { path: '/cards/:id/shipping', read: 'get_card', action: '/cards/:id/shipping' },
]

/** Actions of operators on disputes and cards, through the operator API. */
export const sandboxCases: Surface = (app, host) => {
  for (const one of cases) {
    app.post(`/sandbox/v1${one.path}`, (request, reply) =>
      runAction({ app, host, one }, request, reply),
    )
  }
}

type CaseContext = { app: FastifyInstance; host: SandboxHost; one: Case }

async function runAction(
  { app, host, one }: CaseContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { authorization } = request.headers
  const { id } = request.params as { id: string }
  await host.callerOf(authorization)
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const seen = await host.call(one.read, { id }, bearer)
  if (seen.status !== 200) return forwardResponse(reply, seen)
  const answer = await app.inject({
    method: 'POST',
    url: `/operator/v1${one.action.replace(':id', encodeURIComponent(id))}`,
    headers: {
      authorization: `Bearer ${host.settings.operator_token?.open() ?? ''}`,
      'content-type': 'application/json',
    },
    payload: JSON.stringify(readBody(request)),
  })
  return reply
    .code(answer.statusCode)
    .header('Request-Id', String(answer.headers['request-id']))
    .type('application/json; charset=utf-8')
    .send(answer.body)
}
