import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispute } from '#contract/disputes.ts'
import { bearerOf } from '#doors/bearer.ts'
import { requestFactsOf } from '#doors/request_facts.ts'
import { sendEvidence } from '#doors/send_evidence.ts'
import type { Call } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { Programme } from '#operations/programme.ts'
import { send } from './send.ts'

/** Files of evidence for their owner. No operation: whoever may read the dispute may have them. */
export function mountEvidenceFiles(app: FastifyInstance, programme: Programme): void {
  app.get('/files/disputes/:id/evidence/:evidence_id', (request, reply) =>
    download(programme, request, reply),
  )
}

async function download(
  programme: Programme,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id, evidence_id } = request.params as { id: string; evidence_id: string }
  const call: Call = {
    operation: 'get_dispute',
    bearer: bearerOf(request.headers.authorization),
    request: requestFactsOf(programme, request),
    readInput: () => ({ id }),
  }
  const answer = await invoke(programme, call)
  if (answer.status !== 200) return send(programme, reply, call, answer)
  const { evidence } = JSON.parse(answer.body) as Dispute
  reply.headers(answer.headers).header('Request-Id', call.request.id)
  return sendEvidence(programme, reply, evidence, evidence_id)
}
