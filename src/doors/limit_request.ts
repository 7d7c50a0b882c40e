import type { FastifyReply } from 'fastify'
import type { RateSubject } from '#operations/invocation.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateHeaders, requireAllowed } from '#operations/steps/limit_rate.ts'

/** Counts a request and sets its rate headers, also if it is refused. */
export async function limitRequest(
  runtime: Runtime,
  reply: FastifyReply,
  subject: RateSubject,
): Promise<void> {
  const verdict = await runtime.limiter.take(subject.key, subject.policies)
  reply.headers(rateHeaders(subject, verdict))
  requireAllowed(verdict)
}
