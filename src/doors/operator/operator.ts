import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { getDisputeOf } from '#domain/disputes/find_disputes.ts'
import { recordAct } from '#domain/operators/operator_acts.ts'
import type { BodyConfig } from '#doors/read_body.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { sendEvidence } from '#doors/send_evidence.ts'
import { lazy } from '#kernel/lazy.ts'
import type { Runtime } from '#operations/runtime.ts'
import { calls } from './calls.ts'
import { operatorOpenApi } from './openapi.ts'
import { type OperatorCall, routeOf } from './operator_call.ts'
import { knownOperator, serveOperator } from './serve.ts'
import { signIn } from './sign_in.ts'

/** The operator's surface, with bearers of its own that open no account. */
export function mountOperator(app: FastifyInstance, runtime: Runtime): void {
  for (const call of Object.values<OperatorCall>(calls)) {
    app.route({
      method: call.method as HTTPMethods,
      url: routeOf(call),
      exposeHeadRoute: false,
      config: { bearer: 'operator' } satisfies BodyConfig as object,
      handler: (request, reply) => serveOperator(runtime, call, request, reply),
    })
  }
  app.post('/operator/v1/sessions', (request, reply) => signIn(runtime, request, reply))
  app.get('/operator/v1/disputes/:id/evidence/:evidence_id', (request, reply) =>
    download(runtime, request, reply),
  )
  const document = lazy(() => JSON.stringify(operatorOpenApi(runtime.settings.public_url)))
  app.get('/operator/openapi.json', (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(document()),
  )
}

/** Every role may read evidence, and every read is recorded before it is answered. */
async function download(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const headers: Record<string, string> = {}
  const operator = await knownOperator(runtime, request, headers)
  const input = request.params as { id: string; evidence_id: string }
  const { evidence, account_id } = await getDisputeOf({ tx: runtime.db }, { id: input.id })
  const facts = requestContextOf(runtime, request)
  await recordAct(runtime.db, {
    operator,
    act: 'read_evidence',
    resource: { type: 'evidence', id: input.evidence_id },
    account_id,
    input,
    request_id: facts.id,
    ip: facts.ip,
    now: runtime.clock.now(),
  })
  reply.headers(headers)
  return sendEvidence(runtime, reply, evidence, input.evidence_id)
}
