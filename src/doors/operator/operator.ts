import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import { systemHealth } from '#domain/system/health.ts'
import type { Programme } from '#operations/programme.ts'

/** The operator's surface, with a bearer of its own that opens no account. */
export function mountOperator(app: FastifyInstance, programme: Programme): void {
  app.get('/operator/v1/health', async (request) => {
    requireOperator(programme, request)
    return systemHealth(programme, programme.clock.now())
  })
}

function requireOperator({ settings }: Programme, request: FastifyRequest): void {
  const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (given === undefined) {
    throw new Problem('missing_token', 'Send Authorization: Bearer with the operator token.')
  }
  const token = settings.operator_token?.open()
  if (token === undefined || !timingSafeEqual(digest(given), digest(token))) {
    throw new Problem('invalid_token', 'This is not the operator token.')
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()
