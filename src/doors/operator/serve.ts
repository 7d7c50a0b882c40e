import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import type { RequestFacts } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import { mayAct, type Operator, type OperatorContext } from '#domain/operators/operator.ts'
import { recordAct } from '#domain/operators/operator_acts.ts'
import { operatorOf } from '#domain/operators/operator_token.ts'
import { rate_profiles } from '#domain/risk/rate_limit.ts'
import { bearerOf } from '#doors/bearer.ts'
import { readInput } from '#doors/read_input.ts'
import { requestFactsOf } from '#doors/request_facts.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { Answer } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import { problemOf, refusalAnswer } from '#operations/refusal.ts'
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
  programme: Programme,
  call: OperatorCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const facts = requestFactsOf(programme, request)
  const headers: Record<string, string> = { 'Request-Id': facts.id, 'Cache-Control': 'no-store' }
  const answer = await answerTo(programme, call, { request, facts, headers }).catch(
    (cause: unknown) => {
      const problem = problemOf(cause)
      if (problem.status >= 500 && problem.cause !== undefined) {
        const context = { act: call.name, request_id: facts.id }
        programme.log.error('an operator call failed', context, problem.cause)
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
  facts: Omit<RequestFacts, 'idempotency_key'>
  headers: Record<string, string>
}

async function answerTo(
  programme: Programme,
  call: OperatorCall,
  { request, facts, headers }: Serving,
): Promise<Answer> {
  const operator = await knownOperator(programme, request, headers)
  if (!mayAct(operator, call.role)) {
    const sentence = `${call.name} requires the ${call.role} role. This token has ${operator.role}.`
    throw new Problem('insufficient_scope', sentence)
  }
  const key = readIdempotencyKey(facts.header('idempotency-key'))
  const input = parseInput(call, await readInput(call, request))
  const working: Working = { programme, call, operator, facts, input, key }
  if (isAct(call)) return act(working)
  if (!call.shows_no_holder) await recordRead(working)
  return success(await actOf(call.name)(contextOf(working, programme.db), input))
}

/** Guesses at tokens are counted by address, calls by token. */
export async function knownOperator(
  programme: Programme,
  request: FastifyRequest,
  headers: Record<string, string>,
): Promise<Operator> {
  const asking = { ...programme, now: programme.clock.now() }
  const bearer = bearerOf(request.headers.authorization)
  const operator = await operatorOf(bearer, asking).catch(async (cause: unknown) => {
    const guess = rateSubjectOf(programme, null, { caller: null, ip: request.ip })
    Object.assign(headers, rateHeaders(guess, await limitRate(programme, guess)))
    throw cause
  })
  const subject = { key: `operator|${operator.id}`, policies: rate_profiles.default }
  Object.assign(headers, rateHeaders(subject, await limitRate(programme, subject)))
  return operator
}

type Working = {
  programme: Programme
  call: OperatorCall
  operator: Operator
  facts: Omit<RequestFacts, 'idempotency_key'>
  input: Record<string, unknown>
  key: string | null
}

/** The change, its trail and its note are one transaction; a repeat gets the first answer. */
async function act(working: Working): Promise<Answer> {
  const { programme, call, input, key } = working
  const run = actOf(call.name)
  await preparationOf(call.name)?.(contextOf(working, programme.db), input)
  const before = call.is_outside ? await run(contextOf(working, programme.db), input) : undefined
  const changed = new Set<string>()
  const answer = await programme.db.transaction(async (tx) => {
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
  for (const account_id of changed) programme.credentials.forget(account_id)
  return answer
}

/** Before the answer, so that no read is without it. */
async function recordRead({ programme, call, operator, facts, input }: Working): Promise<void> {
  const { db, clock } = programme
  const [id] = idsIn(call, input)
  const resource = id === undefined ? null : { type: call.name.replace(/^\w+?_/, ''), id }
  const { id: request_id, ip } = facts
  const now = clock.now()
  const about = { resource, account_id: null, input, request_id, ip, now }
  await recordAct(db, { operator, act: call.name, ...about })
}

async function note(working: Working, tx: Tx, trail: CollectedTrail): Promise<void> {
  const { programme, call, operator, facts, input } = working
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
    now: programme.clock.now(),
  })
  const request = { ...facts, idempotency_key: null }
  await writeTrail(programme, tx, trail, { caller: null, operator, request, operation: call.name })
}

function idempotencyOf({ programme, call, operator, input }: Working, key: string): IdempotentCall {
  const asked = canonicalJson([call.method, call.path, input])
  return {
    scope: ['operator', operator.id, call.name, ...idsIn(call, input)].join('|'),
    key,
    fingerprint: programme.keys.fingerprint('idempotency', asked),
    account_id: null,
  }
}

const tellers = ({ emit, audit, alert }: CollectedTrail) => ({ emit, audit, alert })

function contextOf({ programme, operator, facts }: Working, tx: Tx): OperatorContext {
  const now = programme.clock.now()
  const silent = () => undefined
  return {
    settings: programme.settings,
    clock: programme.clock,
    keys: programme.keys,
    probes: programme.probes,
    screener: programme.screener,
    db: programme.db,
    tx,
    operator,
    request: { ...facts, idempotency_key: null },
    now,
    newId: (prefix: IdPrefix, at: Date = now) => programme.newId(prefix, at),
    emit: silent,
    audit: silent,
    alert: silent,
    credentialsChanged: silent,
  }
}

function success(output: unknown): Answer {
  return { status: 200, body: JSON.stringify(output), headers: {} }
}
