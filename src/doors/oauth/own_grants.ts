import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { missingToken, notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Budget } from '#domain/budgets/budget.ts'
import { budgetsOfGrants } from '#domain/budgets/budget_of.ts'
import type { Caller } from '#domain/context/context.ts'
import { listGrantRows } from '#domain/credentials/grant_store.ts'
import { changeBudget, grantView, revokeGrant } from '#domain/oauth_grants/grants.ts'
import { removeScope } from '#domain/oauth_grants/remove_scope.ts'
import { readJsonBody } from '#doors/json_body.ts'
import { limitRequest } from '#doors/limit_request.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { readBudget } from './budget_details.ts'

const GRANTS_MAX = 500

/** Lists, narrows and revokes the app access that an account owner granted; used by the panel. */
export function mountOwnGrants(app: FastifyInstance, home: Runtime): void {
  app.get('/oauth/grants', async (request, reply) => {
    const runtime = runtimeOfBearer(home, bearerOf(request.headers.authorization))
    const caller = await requireOwner(runtime, request)
    const subject = rateSubjectOf(runtime, { caller, ip: request.ip })
    await limitRequest(runtime, reply, subject)
    const { account_id } = caller
    const db = runtime.databaseOf(caller)
    const rows = await listGrantRows(db, { account_id, limit: GRANTS_MAX })
    const budgets = await budgetsOfGrants(db, account_id, runtime.clock.now())
    const data = rows.map((row) => ({ ...grantView(row), budget: budgets.get(row.id) ?? null }))
    return { data, next_cursor: null, has_more: false }
  })
  const setBudget = async (request: FastifyRequest, reply: FastifyReply, budget: Budget | null) => {
    const runtime = runtimeOfBearer(home, bearerOf(request.headers.authorization))
    const { caller, id, audit_context } = await readChange(runtime, request, reply)
    if (caller.kind !== 'session') throw sessionOnly()
    const change = { account_id: caller.account_id, budget, audit_context }
    if (!(await changeBudget(runtime, id, change))) throw notFound('grant')
    return reply.code(204).send()
  }
  app.put('/oauth/grants/:id/budget', async (request, reply) => {
    const body = await readJsonBody(request.body as Buffer, request.headers['content-type'])
    return setBudget(request, reply, readBudget(body))
  })
  app.delete('/oauth/grants/:id/budget', (request, reply) => setBudget(request, reply, null))
  app.delete('/oauth/grants/:id/scopes/:scope', async (request, reply) => {
    const runtime = runtimeOfBearer(home, bearerOf(request.headers.authorization))
    const { caller, id, audit_context } = await readChange(runtime, request, reply)
    const { scope } = request.params as { scope: string }
    const change = { account_id: caller.account_id, scope, audit_context }
    if (!(await removeScope(runtime, id, change))) throw notFound('grant with this scope')
    return reply.code(204).send()
  })
  app.delete('/oauth/grants/:id', async (request, reply) => {
    const runtime = runtimeOfBearer(home, bearerOf(request.headers.authorization))
    const { caller, id, audit_context } = await readChange(runtime, request, reply)
    const { account_id } = caller
    const revoked = await revokeGrant(runtime, id, { account_id, audit_context })
    if (revoked === undefined) throw notFound('grant')
    return reply.code(204).send()
  })
}

/** The owner, the grant in the path and the author of the audit entries. */
async function readChange(runtime: Runtime, request: FastifyRequest, reply: FastifyReply) {
  const caller = await requireOwner(runtime, request)
  const subject = rateSubjectOf(runtime, { caller, ip: request.ip })
  await limitRequest(runtime, reply, subject)
  const { id } = request.params as { id: string }
  const request_context = requestContextOf(request)
  const audit = { ...runtime, caller, request: request_context, operation: null }
  return { caller, id, audit_context: auditContextOf(audit) }
}

function sessionOnly(): Problem {
  return new Problem('credential_not_allowed', 'Sign in to change what an app can spend.')
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
