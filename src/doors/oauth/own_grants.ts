import type { FastifyInstance, FastifyRequest } from 'fastify'
import { missingToken, notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Caller } from '#domain/context/context.ts'
import { listGrantRows } from '#domain/credentials/grant_store.ts'
import { grantView, revokeGrant } from '#domain/oauth_grants/grants.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'

const GRANTS_MAX = 500

/** Lists and revokes the app access that an account owner has granted; used by the panel. */
export function mountOwnGrants(app: FastifyInstance, runtime: Runtime): void {
  app.get('/oauth/grants', async (request, reply) => {
    const caller = await requireOwner(runtime, request)
    const subject = rateSubjectOf(runtime, { caller, ip: request.ip })
    reply.headers(rateHeaders(subject, await limitRate(runtime, subject)))
    const { account_id } = caller
    const db = runtime.databaseOf(caller)
    const rows = await listGrantRows(db, { account_id, limit: GRANTS_MAX })
    return { data: rows.map(grantView), next_cursor: null, has_more: false }
  })
  app.delete('/oauth/grants/:id', async (request, reply) => {
    const caller = await requireOwner(runtime, request)
    const subject = rateSubjectOf(runtime, { caller, ip: request.ip })
    reply.headers(rateHeaders(subject, await limitRate(runtime, subject)))
    const { id } = request.params as { id: string }
    const request_context = requestContextOf(runtime, request)
    const audit = { ...runtime, caller, request: request_context, operation: null }
    const revoked = await revokeGrant(runtime, id, {
      account_id: caller.account_id,
      audit_context: auditContextOf(audit),
    })
    if (revoked === undefined) throw notFound('grant')
    return reply.code(204).send()
  })
}

/** OAuth clients must not see the grants of other clients or manage their own. */
async function requireOwner(runtime: Runtime, request: FastifyRequest): Promise<Caller> {
  const bearer = bearerOf(request.headers.authorization)
  if (bearer === null) throw missingToken()
  const caller = await runtime.credentials.callerOf(bearer)
  if (caller.kind === 'oauth_client') {
    throw new Problem('credential_not_allowed', 'Only the account owner can manage app access.')
  }
  return caller
}
