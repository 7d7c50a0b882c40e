import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import type { Caller, RequestContext, StoredFile } from '#domain/context/context.ts'
import type { Answer, Call } from './call.ts'
import { problemOf, refusalAnswer } from './refusal.ts'
import { run } from './run.ts'
import type { Runtime } from './runtime.ts'
import { auditRefusal, type Refused } from './steps/audit_refusal.ts'
import { authenticate } from './steps/authenticate.ts'
import { limitRate, rateHeaders, rateStatus, rateSubjectOf } from './steps/limit_rate.ts'
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
export async function invoke(runtime: Runtime, call: Call): Promise<Answer> {
  const started = runtime.clock.monotonic()
  const operation: OperationShape = operations[call.operation]
  const progress: Progress = { caller: null, headers: null }
  let answer: Answer
  try {
    answer = await steps(runtime, call, operation, progress)
  } catch (cause) {
    answer = await refused(runtime, call, { ...progress, operation, cause })
  }
  const { file } = progress
  if (file !== undefined && isNeedless(answer)) await runtime.blobs.remove(file.id)
  progress.headers ??= await rateStatusHeaders(runtime, operation, call, progress.caller)
  Object.assign(answer.headers, progress.headers)
  recordCall(runtime, call, { answer, caller: progress.caller, started })
  return answer
}

async function steps(
  runtime: Runtime,
  call: Call,
  operation: OperationShape,
  progress: Progress,
): Promise<Answer> {
  const { request } = call
  const found = known(runtime, call, operation)
  const caller = found instanceof Promise ? await found : found
  progress.caller = caller

  const subject = rateSubjectOf(runtime, operation, { caller, ip: request.ip })
  const taken = limitRate(runtime, subject)
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
    progress.file = await takeFile(runtime, input)
    facts.upload = progress.file
  }
  if (caller !== null && caller.kind !== 'session') {
    const noted = runtime.key_uses.note(caller, facts, operation.name)
    if (noted !== null) await noted
  }

  const rate = rateStatus(subject, verdict)
  const { headers } = progress
  const is_free = call.is_free === true
  const asked = { operation, caller, request: facts, rate, input, refusal }
  return await run({ runtime, ...asked, headers, is_free })
}

/** Written out, not spread: every call makes one. */
function factsOf({ request }: Call, idempotency_key: string | null): RequestContext {
  const { id, ip, user_agent, header, upload } = request
  const facts = { id, ip, user_agent, header, idempotency_key }
  return upload === undefined ? facts : { ...facts, upload }
}

function known(
  runtime: Runtime,
  call: Call,
  operation: OperationShape,
): Caller | null | Promise<Caller> {
  const guessed = (cause: unknown) => countGuess(runtime, call, cause)
  try {
    const found = authenticate(runtime, operation, call)
    return found instanceof Promise ? found.catch(guessed) : found
  } catch (cause) {
    return guessed(cause)
  }
}

/** Guesses at bearers count too, by their address. */
async function countGuess(runtime: Runtime, call: Call, cause: unknown): Promise<never> {
  const nobody = { caller: null, ip: call.request.ip }
  await limitRate(runtime, rateSubjectOf(runtime, null, nobody))
  throw cause
}

/** Whoever refused, and for whatever reason: told in the audit log first where that is due. */
async function refused(runtime: Runtime, call: Call, refusal: Refused): Promise<Answer> {
  try {
    await auditRefusal(runtime, call, refusal)
    return refuse(runtime, call, refusal.cause)
  } catch (cause) {
    return refuse(runtime, call, cause)
  }
}

function refuse(runtime: Runtime, call: Call, cause: unknown): Answer {
  const problem = problemOf(cause)
  runtime.metrics.problems.inc({ operation: call.operation, code: problem.code })
  if (problem.status >= 500 && problem.cause !== undefined) {
    const { operation, request } = call
    runtime.log.error('a call failed', { operation, request_id: request.id }, problem.cause)
  }
  return refusalAnswer(problem, call.request.id)
}

/** A call that was refused before its rate was counted still hears where it stands. */
async function rateStatusHeaders(
  runtime: Runtime,
  operation: OperationShape,
  call: Call,
  caller: Caller | null,
): Promise<Record<string, string>> {
  const subject = rateSubjectOf(runtime, operation, { caller, ip: call.request.ip })
  return rateHeaders(subject, await runtime.limiter.peek(subject.key, subject.policies))
}

type Outcome = { answer: Answer; caller: Caller | null; started: number }

function recordCall(
  { log, metrics, clock }: Runtime,
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
