import type { FastifyInstance, FastifyReply } from 'fastify'
import { fieldProblem, missingToken, notFound } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Caller, SecurityAlert } from '#domain/context/context.ts'
import { insertSecurityNotices } from '#domain/notices/security_alerts.ts'
import { revokeGrant } from '#domain/oauth_grants/grants.ts'
import {
  openRevealGrant,
  type RevealGrant,
  type RevealRequest,
} from '#domain/oauth_grants/reveal_grant.ts'
import { readJsonBody } from '#doors/json_body.ts'
import { limitRequest } from '#doors/limit_request.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { isId } from '#kernel/id.ts'
import type { Call, Response } from '#operations/call.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { identifyCaller } from '#operations/steps/authenticate.ts'
import { rateSubjectOf } from '#operations/steps/limit_rate.ts'
import type { Tx } from '#platform/postgres/db.ts'

/**
 * Shows the panel's user one card number in one step. A session still cannot call reveal_pan: this
 * route checks the password again, gives the panel's own client a grant for this card, reveals with
 * its token and ends the grant. The token never leaves the service.
 */
export function mountRevealCard(app: FastifyInstance, home: Runtime): void {
  app.post('/oauth/card_reveals', async (request, reply) => {
    const { ip } = request
    const bearer = bearerOf(request.headers.authorization)
    if (bearer === null) throw missingToken()
    const runtime = runtimeOfBearer(home, bearer)
    const caller = await identifyCaller(runtime, { bearer, ip })
    const subject = rateSubjectOf(runtime, { caller, ip })
    await limitRequest(runtime, reply, subject)
    const body = await readJsonBody(request.body as Buffer, request.headers['content-type'])
    const request_context = requestContextOf(request)
    const response = await reveal(runtime, { caller, request: request_context, body })
    return sendResponse(reply, response)
  })
}

type RevealCall = { caller: Caller; request: Call['request']; body: unknown }

async function reveal(runtime: Runtime, { caller, request, body }: RevealCall): Promise<Response> {
  const { account_id } = caller
  const audit_context = auditContextOf({ ...runtime, caller, request, operation: 'reveal_pan' })
  const alert = (tx: Tx, alert: SecurityAlert) =>
    insertSecurityNotices(tx, account_id, [alert], { ...runtime, request })
  try {
    requireSession(caller)
    const input = requireInput(body)
    const grant = await openRevealGrant(runtime, { caller, audit_context, alert }, input)
    return await revealWith(runtime, grant, { caller, request, card_id: input.card_id })
  } catch (cause) {
    await auditRefusal(runtime, { caller, audit_context, body }, cause)
    throw cause
  }
}

type GrantedReveal = { caller: Caller; request: Call['request']; card_id: string }

/** The pipeline counts and audits the reveal, and audits its own refusals. */
async function revealWith(
  runtime: Runtime,
  { token, grant_id }: RevealGrant,
  { caller, request, card_id }: GrantedReveal,
): Promise<Response> {
  const nonce = newNonce(runtime)
  try {
    return await invoke(runtime, {
      operation: 'reveal_pan',
      bearer: token.open(),
      request: { ...request, header: (name) => (name === 'reveal-nonce' ? nonce : null) },
      readInput: () => ({ id: card_id }),
    })
  } finally {
    const { account_id } = caller
    const source = { ...runtime, caller, request, operation: null }
    await revokeGrant(runtime, grant_id, { account_id, audit_context: auditContextOf(source) })
  }
}

function newNonce({ random }: Runtime): string {
  const hex = Buffer.from(random.bytes(16)).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function requireSession({ kind }: Caller): void {
  if (kind === 'session') return
  const message = 'Only the account owner can do this, signed in. Call reveal_pan instead.'
  throw new Problem('credential_not_allowed', message)
}

function requireInput(body: unknown): RevealRequest {
  const { card_id, password, totp_code, ...others } = Object(body) as Record<string, unknown>
  const [other] = Object.keys(others)
  if (other !== undefined) throw fieldProblem('invalid_request', other, 'is not a known field')
  if (typeof card_id !== 'string') throw missing('card_id')
  if (typeof password !== 'string' || password === '') throw missing('password')
  if (totp_code !== undefined && typeof totp_code !== 'string') throw missing('totp_code')
  if (!isId('card', card_id)) throw notFound('card')
  return { card_id, password, totp_code }
}

const missing = (field: string) => fieldProblem('invalid_request', field, 'must be a string')

type RefusedReveal = { caller: Caller; audit_context: AuditContext; body: unknown }

/** As for reveal_pan itself, every refused attempt is in the audit log (contract 2). */
async function auditRefusal(
  { db }: Runtime,
  { caller, audit_context, body }: RefusedReveal,
  cause: unknown,
): Promise<void> {
  if (!(cause instanceof Problem) || cause.status >= 500) return
  const { card_id } = Object(body) as { card_id?: unknown }
  const isCard = typeof card_id === 'string' && isId('card', card_id)
  const entry = {
    action: 'card.pan_reveal_denied',
    result: cause.status === 401 ? ('failure' as const) : ('denied' as const),
    resource: isCard ? { type: 'card', id: card_id } : null,
  }
  await db.transaction((tx) => recordAudit(tx, caller.account_id, [entry], audit_context))
}

function sendResponse(reply: FastifyReply, { status, body, headers }: Response): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'Cache-Control': 'no-store' })
    .type('application/json; charset=utf-8')
    .send(body)
}
