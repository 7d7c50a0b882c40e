import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Evidence } from '#contract/disputes.ts'
import type { Operation } from '#contract/operation.ts'
import { operator_operations, type PipelineOperationName } from '#contract/operator/operations.ts'
import { operator_sign_in } from '#contract/operator/system.ts'
import type { BodyConfig } from '#doors/read_body.ts'
import { readInput } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { sendEvidence } from '#doors/send_evidence.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { lazy } from '#kernel/lazy.ts'
import type { Call, Response } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { operatorOpenApi } from './openapi.ts'

const BASE = '/operator/v1'

/** The operator API. Its tokens give no access to accounts, and account credentials none here. */
export function mountOperator(app: FastifyInstance, runtime: Runtime): void {
  for (const operation of [...Object.values<Operation>(operator_operations), operator_sign_in]) {
    app.route({
      method: operation.method as HTTPMethods,
      url: BASE + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      exposeHeadRoute: false,
      config: { bearer: 'operator' } satisfies BodyConfig as object,
      handler: (request, reply) => serve(runtime, operation, request, reply),
    })
  }
  const document = lazy(() => JSON.stringify(operatorOpenApi(runtime.settings.public_url)))
  app.get('/operator/openapi.json', (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(document()),
  )
}

async function serve(
  runtime: Runtime,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const call: Call = {
    operation: operation.name as PipelineOperationName,
    bearer: bearerOf(request.headers.authorization),
    request: requestContextOf(request),
    readInput: () => readInput(operation, request),
  }
  const response = await invoke(runtime, call)
  reply.headers({ ...response.headers, 'Request-Id': call.request.id, 'Cache-Control': 'no-store' })
  if (operation.name === 'operator_get_evidence' && response.status === 200) {
    return sendFile(runtime, reply, response)
  }
  return reply.code(response.status).type('application/json; charset=utf-8').send(response.body)
}

/** The operation returns the record of the file; the response is the file itself. */
function sendFile(
  runtime: Runtime,
  reply: FastifyReply,
  { body }: Response,
): Promise<FastifyReply> {
  const evidence = JSON.parse(body) as Evidence
  return sendEvidence(runtime, reply, [evidence], evidence.id)
}
