import type { FastifyInstance, FastifyRequest } from 'fastify'
import { missingToken, notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { auditFactsOf } from '#domain/audit/audit_facts.ts'
import type { Caller } from '#domain/context/context.ts'
import { listGrantRows } from '#domain/oauth_grants/grant_store.ts'
import { grantView, revokeGrant } from '#domain/oauth_grants/grants.ts'
import { bearerOf } from '#doors/bearer.ts'
import { requestFactsOf } from '#doors/request_facts.ts'
import type { Programme } from '#operations/programme.ts'
import { limitRate, rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'

const GRANTS_MAX = 500

/** What the owner of an account allowed to whom, and how it is taken back; the panel's page. */
export function mountOwnGrants(app: FastifyInstance, programme: Programme): void {
  app.get('/oauth/grants', async (request, reply) => {
    const caller = await requireOwner(programme, request)
    const subject = rateSubjectOf(programme, null, { caller, ip: request.ip })
    reply.headers(rateHeaders(subject, await limitRate(programme, subject)))
    const { account_id } = caller
    const db = programme.databaseOf(caller)
    const rows = await listGrantRows(db, { account_id, limit: GRANTS_MAX })
    return { data: rows.map(grantView), next_cursor: null, has_more: false }
  })
  app.delete('/oauth/grants/:id', async (request, reply) => {
    const caller = await requireOwner(programme, request)
    const subject = rateSubjectOf(programme, null, { caller, ip: request.ip })
    reply.headers(rateHeaders(subject, await limitRate(programme, subject)))
    const { id } = request.params as { id: string }
    const facts = { ...requestFactsOf(programme, request), idempotency_key: null }
    const told = auditFactsOf({ ...programme, caller, request: facts, operation: '' })
    const revoked = await revokeGrant(programme, id, {
      account_id: caller.account_id,
      facts: { ...told, operation: null },
    })
    if (revoked === undefined) throw notFound('grant')
    return reply.code(204).send()
  })
}

/** An agent must not see, or keep, what others were allowed. */
async function requireOwner(programme: Programme, request: FastifyRequest): Promise<Caller> {
  const bearer = bearerOf(request.headers.authorization)
  if (bearer === null) throw missingToken()
  const caller = await programme.credentials.callerOf(bearer)
  if (caller.kind === 'oauth_client') {
    throw new Problem('credential_not_allowed', 'Only the account owner can manage app access.')
  }
  return caller
}
