import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { getDisputeOf } from '#domain/disputes/find_disputes.ts'
import type { BodyConfig } from '#doors/read_body.ts'
import { sendEvidence } from '#doors/send_evidence.ts'
import { lazy } from '#kernel/lazy.ts'
import type { Programme } from '#operations/programme.ts'
import { calls } from './calls.ts'
import { operatorOpenApi } from './openapi.ts'
import { type OperatorCall, routeOf } from './operator_call.ts'
import { knownOperator, serveOperator } from './serve.ts'

/** The operator's surface, with bearers of its own that open no account. */
export function mountOperator(app: FastifyInstance, programme: Programme): void {
  for (const call of Object.values<OperatorCall>(calls)) {
    app.route({
      method: call.method as HTTPMethods,
      url: routeOf(call),
      exposeHeadRoute: false,
      config: { bearer: 'operator' } satisfies BodyConfig as object,
      handler: (request, reply) => serveOperator(programme, call, request, reply),
    })
  }
  app.get('/operator/v1/disputes/:id/evidence/:evidence_id', (request, reply) =>
    download(programme, request, reply),
  )
  const document = lazy(() => JSON.stringify(operatorOpenApi(programme.settings.public_url)))
  app.get('/operator/openapi.json', (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(document()),
  )
}

/** Whoever may see the dispute may see what supports it: every role may. */
async function download(
  programme: Programme,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const headers: Record<string, string> = {}
  await knownOperator(programme, request, headers)
  const { id, evidence_id } = request.params as { id: string; evidence_id: string }
  const { evidence } = await getDisputeOf({ tx: programme.db }, { id })
  reply.headers(headers)
  return sendEvidence(programme, reply, evidence, evidence_id)
}
