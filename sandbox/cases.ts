import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import type { SandboxHost, Surface } from '#domain/context/surface.ts'
import { passOn, readBody } from './control.ts'

type Case = {
  path: string
  /** How the caller itself would read the thing: what it may not see cannot be played with. */
  read: OperationName
  /** The operator's call behind it. */
  act: string
}

const cases: readonly Case[] = [
  { path: '/disputes/:id/answer', read: 'get_dispute', act: '/disputes/:id/answer' },
  { path: '/disputes/:id/close', read: 'get_dispute', act: '/disputes/:id/close' },
  { path: '/cards/:id/shipping', read: 'get_card', act: '/cards/:id/shipping' },
]

/** What people do behind the scenes, on demand: through the operator's own surface. */
export const sandboxCases: Surface = (app, world) => {
  for (const one of cases) {
    app.post(`/sandbox/v1${one.path}`, (request, reply) =>
      play({ app, world, one }, request, reply),
    )
  }
}

type Scene = { app: FastifyInstance; world: SandboxHost; one: Case }

async function play(
  { app, world, one }: Scene,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { authorization } = request.headers
  const { id } = request.params as { id: string }
  await world.callerOf(authorization)
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const seen = await world.call(one.read, { id }, bearer)
  if (seen.status !== 200) return passOn(reply, seen)
  const answer = await app.inject({
    method: 'POST',
    url: `/operator/v1${one.act.replace(':id', encodeURIComponent(id))}`,
    headers: {
      authorization: `Bearer ${world.settings.operator_token?.open() ?? ''}`,
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
