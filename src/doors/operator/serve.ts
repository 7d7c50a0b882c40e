import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { RequestContext } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import { mayAct, type Operator, type OperatorContext } from '#domain/operators/operator.ts'
import { recordAct } from '#domain/operators/operator_acts.ts'
import { operatorOf } from '#domain/operators/operator_token.ts'
import { rate_profiles } from '#domain/risk/rate_limit.ts'
import { bearerOf } from '#doors/bearer.ts'
import { readInput } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { Answer } from '#operations/call.ts'
import { problemOf, refusalAnswer } from '#operations/refusal.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { parseInput } from '#operations/steps/parse_input.ts'
import {
  findStoredAnswer,
  type IdempotentCall,
  lockIdempotencyKey,
  readIdempotencyKey,
  storeAnswer,
} from '#operations/steps/replay_idempotent.ts'
import { type CollectedTrail, collectTrail, writeTrail } from '#operations/trail.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { actOf, preparationOf } from './acts.ts'
import { idsIn, isAct, type OperatorCall } from './operator_call.ts'

/** One call of an operator: who is it, may they, what do they want; then it is done and noted. */
export async function serveOperator(
  runtime: Runtime,
  call: OperatorCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const facts = requestContextOf(runtime, request)
  const headers: Record<string, string> = { 'Request-Id': facts.id, 'Cache-Control': 'no-store' }
  const answer = await answerTo(runtime, call, { request, facts, headers }).catch(
    (cause: unknown) => {
      const problem = problemOf(cause)
      if (problem.status >= 500 && problem.cause !== undefined) {
        const context = { act: call.name, request_id: facts.id }
        runtime.log.error('an operator call failed', context, problem.cause)
      }
      return refusalAnswer(problem, facts.id)
    },
  )
  return reply
    .code(answer.status)
    .headers({ ...headers, ...answer.headers })
    .type('application/json; charset=utf-8')
    .send(answer.body)
}

type Serving = {
  request: FastifyRequest
  facts: Omit<RequestContext, 'idempotency_key'>
  headers: Record<string, string>
}

async function answerTo(
  runtime: Runtime,
  call: OperatorCall,
  { request, facts, headers }: Serving,
): Promise<Answer> {
  const operator = await knownOperator(runtime, request, headers)
  if (!mayAct(operator, call.role)) {
    const sentence = `${call.name} requires the ${call.role} role. This token has ${operator.role}.`
    throw new Problem('insufficient_scope', sentence)
  }
  const key = readIdempotencyKey(facts.header('idempotency-key'))
  const input = parseInput(call, await readInput(call, request))
  const working: Working = { runtime, call, operator, facts, input, key }
  if (isAct(call)) return act(working)
  if (!call.shows_no_holder) await recordRead(working)
  return success(await actOf(call.name)(contextOf(working, runtime.db), input))
}

/** Guesses at tokens are counted by address, calls by token. */
export async function knownOperator(
  runtime: Runtime,
  request: FastifyRequest,
  headers: Record<string, string>,
): Promise<Operator> {
  const asking = { ...runtime, now: runtime.clock.now() }
  const bearer = bearerOf(request.headers.authorization)
  const operator = await operatorOf(bearer, asking).catch(async (cause: unknown) => {
    const guess = rateSubjectOf(runtime, null, { caller: null, ip: request.ip })
    Object.assign(headers, rateHeaders(guess, await limitRate(runtime, guess)))
    throw cause
  })
  const subject = { key: `operator|${operator.id}`, policies: rate_profiles.default }
  Object.assign(headers, rateHeaders(subject, await limitRate(runtime, subject)))
  return operator
}

type Working = {
  runtime: Runtime
  call: OperatorCall
  operator: Operator
  facts: Omit<RequestContext, 'idempotency_key'>
  input: Record<string, unknown>
  key: string | null
}

/** The change, its trail and its note are one transaction; a repeat gets the first answer. */
async function act(working: Working): Promise<Answer> {
  const { runtime, call, input, key } = working
  const run = actOf(call.name)
  await preparationOf(call.name)?.(contextOf(working, runtime.db), input)
  const before = call.is_outside ? await run(contextOf(working, runtime.db), input) : undefined
  const changed = new Set<string>()
  const answer = await runtime.db.transaction(async (tx) => {
    const kept = key === null ? null : idempotencyOf(working, key)
    if (kept !== null) {
      await lockIdempotencyKey(tx, kept)
      const stored = await findStoredAnswer(tx, kept)
      if (stored !== undefined) {
        return { ...stored, headers: { 'Idempotent-Replayed': 'true' } }
      }
    }
    const trail = collectTrail()
    const credentialsChanged = (account_id: string) => changed.add(account_id)
    const context = { ...contextOf(working, tx), ...tellers(trail), credentialsChanged }
    const done = success(before ?? (await run(context, input)))
    for (const account_id of changed) await notifyCredentialsChanged(tx, account_id)
    if (kept !== null) await storeAnswer(tx, kept, { ...done, now: context.now })
    await note(working, tx, trail)
    return done
  })
  for (const account_id of changed) runtime.credentials.forget(account_id)
  return answer
}

/** Before the answer, so that no read is without it. */
async function recordRead({ runtime, call, operator, facts, input }: Working): Promise<void> {
  const { db, clock } = runtime
  const [id] = idsIn(call, input)
  const resource = id === undefined ? null : { type: call.name.replace(/^\w+?_/, ''), id }
  const { id: request_id, ip } = facts
  const now = clock.now()
  const about = { resource, account_id: null, input, request_id, ip, now }
  await recordAct(db, { operator, act: call.name, ...about })
}

async function note(working: Working, tx: Tx, trail: CollectedTrail): Promise<void> {
  const { runtime, call, operator, facts, input } = working
  const [concerned] = trail.entries
  const resource = concerned?.[1][0]?.resource ?? null
  await recordAct(tx, {
    operator,
    act: call.name,
    resource,
    account_id: concerned?.[0] ?? null,
    input,
    request_id: facts.id,
    ip: facts.ip,
    now: runtime.clock.now(),
  })
  const request = { ...facts, idempotency_key: null }
  await writeTrail(runtime, tx, trail, { caller: null, operator, request, operation: call.name })
}

function idempotencyOf({ runtime, call, operator, input }: Working, key: string): IdempotentCall {
  const asked = canonicalJson([call.method, call.path, input])
  return {
    scope: ['operator', operator.id, call.name, ...idsIn(call, input)].join('|'),
    key,
    fingerprint: runtime.keys.fingerprint('idempotency', asked),
    account_id: null,
  }
}

const tellers = ({ emit, audit, alert }: CollectedTrail) => ({ emit, audit, alert })

function contextOf({ runtime, operator, facts }: Working, tx: Tx): OperatorContext {
  const now = runtime.clock.now()
  const silent = () => undefined
  return {
    settings: runtime.settings,
    clock: runtime.clock,
    keys: runtime.keys,
    probes: runtime.probes,
    screener: runtime.screener,
    db: runtime.db,
    tx,
    operator,
    request: { ...facts, idempotency_key: null },
    now,
    newId: (prefix: IdPrefix, at: Date = now) => runtime.newId(prefix, at),
    emit: silent,
    audit: silent,
    alert: silent,
    credentialsChanged: silent,
  }
}

function success(output: unknown): Answer {
  return { status: 200, body: JSON.stringify(output), headers: {} }
}
