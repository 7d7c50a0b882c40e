import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispute } from '#contract/disputes.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { sendEvidence } from '#doors/send_evidence.ts'
import { bearerOf } from '#kernel/bearer.ts'
import type { Call } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { send } from './send.ts'

/** Downloads of evidence files. Anyone who may call get_dispute may download its files. */
export function mountEvidenceFiles(app: FastifyInstance, runtime: Runtime): void {
  app.get('/files/disputes/:id/evidence/:evidence_id', (request, reply) =>
    download(runtime, request, reply),
  )
}

async function download(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id, evidence_id } = request.params as { id: string; evidence_id: string }
  const call: Call = {
    operation: 'get_dispute',
    bearer: bearerOf(request.headers.authorization),
    request: requestContextOf(request),
    readInput: () => ({ id }),
  }
  const response = await invoke(runtime, call)
  if (response.status !== 200) return send(runtime, reply, call, response)
  const { evidence } = JSON.parse(response.body) as Dispute
  reply.headers(response.headers).header('Request-Id', call.request.id)
  return sendEvidence(runtime, reply, evidence, evidence_id)
}
