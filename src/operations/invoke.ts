import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import type { Caller, RequestFacts, StoredFile } from '#domain/context/context.ts'
import type { Answer, Call } from './call.ts'
import type { Programme } from './programme.ts'
import { problemOf, refusalAnswer } from './refusal.ts'
import { run } from './run.ts'
import { auditRefusal, type Refused } from './steps/audit_refusal.ts'
import { authenticate } from './steps/authenticate.ts'
import { limitRate, rateHeaders, rateStanding, rateSubjectOf } from './steps/limit_rate.ts'
import { judgeInput } from './steps/parse_input.ts'
import { readIdempotencyKey } from './steps/replay_idempotent.ts'
import { requireAccess, requireFieldAccess } from './steps/require_access.ts'
import { isNeedless, takeFile } from './steps/take_file.ts'

/** What has come out about a call by the time it is answered, well or not. */
type Progress = {
  caller: Caller | null
  headers: Record<string, string> | null
  /** A file that was sent in the input, stored and not yet recorded. */
  file?: StoredFile
}

/** The one way an operation is run, for every door: the steps, in order. */
export async function invoke(programme: Programme, call: Call): Promise<Answer> {
  const started = programme.clock.monotonic()
  const operation: OperationShape = operations[call.operation]
  const progress: Progress = { caller: null, headers: null }
  let answer: Answer
  try {
    answer = await steps(programme, call, operation, progress)
  } catch (cause) {
    answer = await refused(programme, call, { ...progress, operation, cause })
  }
  const { file } = progress
  if (file !== undefined && isNeedless(answer)) await programme.blobs.remove(file.id)
  progress.headers ??= await standingHeaders(programme, operation, call, progress.caller)
  Object.assign(answer.headers, progress.headers)
  tell(programme, call, { answer, caller: progress.caller, started })
  return answer
}

async function steps(
  programme: Programme,
  call: Call,
  operation: OperationShape,
  progress: Progress,
): Promise<Answer> {
  const { request } = call
  const found = known(programme, call, operation)
  const caller = found instanceof Promise ? await found : found
  progress.caller = caller

  const subject = rateSubjectOf(programme, operation, { caller, ip: request.ip })
  const taken = limitRate(programme, subject)
  const verdict = taken instanceof Promise ? await taken : taken
  progress.headers = rateHeaders(subject, verdict)
  requireAccess(operation, caller)

  const takesKey = operation.method === 'POST' || operation.method === 'PATCH'
  const idempotency_key = takesKey ? readIdempotencyKey(request.header('idempotency-key')) : null
  const given = call.readInput()
  const { input, refusal } = judgeInput(operation, given instanceof Promise ? await given : given)
  requireFieldAccess(operation, caller, input)
  const facts = factsOf(call, idempotency_key)
  if (input['content_base64'] !== undefined) {
    progress.file = await takeFile(programme, input)
    facts.upload = progress.file
  }
  if (caller !== null && caller.kind !== 'session') {
    const noted = programme.key_uses.note(caller, facts, operation.name)
    if (noted !== null) await noted
  }

  const rate = rateStanding(subject, verdict)
  const { headers } = progress
  const is_free = call.is_free === true
  const asked = { operation, caller, request: facts, rate, input, refusal }
  return await run({ programme, ...asked, headers, is_free })
}

/** Written out, not spread: every call makes one. */
function factsOf({ request }: Call, idempotency_key: string | null): RequestFacts {
  const { id, ip, user_agent, header, upload } = request
  const facts = { id, ip, user_agent, header, idempotency_key }
  return upload === undefined ? facts : { ...facts, upload }
}

function known(
  programme: Programme,
  call: Call,
  operation: OperationShape,
): Caller | null | Promise<Caller> {
  const guessed = (cause: unknown) => countGuess(programme, call, cause)
  try {
    const found = authenticate(programme, operation, call)
    return found instanceof Promise ? found.catch(guessed) : found
  } catch (cause) {
    return guessed(cause)
  }
}

/** Guesses at bearers count too, by their address. */
async function countGuess(programme: Programme, call: Call, cause: unknown): Promise<never> {
  const nobody = { caller: null, ip: call.request.ip }
  await limitRate(programme, rateSubjectOf(programme, null, nobody))
  throw cause
}

/** Whoever refused, and for whatever reason: told in the audit log first where that is due. */
async function refused(programme: Programme, call: Call, refusal: Refused): Promise<Answer> {
  try {
    await auditRefusal(programme, call, refusal)
    return refuse(programme, call, refusal.cause)
  } catch (cause) {
    return refuse(programme, call, cause)
  }
}

function refuse(programme: Programme, call: Call, cause: unknown): Answer {
  const problem = problemOf(cause)
  programme.metrics.problems.inc({ operation: call.operation, code: problem.code })
  if (problem.status >= 500 && problem.cause !== undefined) {
    const { operation, request } = call
    programme.log.error('a call failed', { operation, request_id: request.id }, problem.cause)
  }
  return refusalAnswer(problem, call.request.id)
}

/** A call that was refused before its rate was counted still hears where it stands. */
async function standingHeaders(
  programme: Programme,
  operation: OperationShape,
  call: Call,
  caller: Caller | null,
): Promise<Record<string, string>> {
  const subject = rateSubjectOf(programme, operation, { caller, ip: call.request.ip })
  return rateHeaders(subject, await programme.limiter.peek(subject.key, subject.policies))
}

type Outcome = { answer: Answer; caller: Caller | null; started: number }

function tell(
  { log, metrics, clock }: Programme,
  call: Call,
  { answer, caller, started }: Outcome,
): void {
  const { operation, request } = call
  const seconds = (clock.monotonic() - started) / 1_000
  metrics.request_seconds.observe(operation, answer.status, seconds)
  log.info('call', {
    operation,
    status: answer.status,
    ms: Math.round(seconds * 10_000) / 10,
    request_id: request.id,
    account_id: caller?.account_id,
    credential: caller?.id,
    ip: request.ip,
  })
}
