import { ApprovalRequired } from '#domain/budgets/approval.ts'
import type { Call, Response } from './call.ts'
import { runtimeOfCall } from './cells.ts'
import { fanOut } from './fan_out.ts'
import { type Invocation, makeInvocation, type Step } from './invocation.ts'
import { perform } from './perform/perform.ts'
import { problemOf, problemResponse } from './problem_response.ts'
import type { Runtime } from './runtime.ts'
import { auditRefusal } from './steps/audit_refusal.ts'
import { authenticate } from './steps/authenticate.ts'
import { limitCallRate, peekRate, rateHeaders } from './steps/limit_rate.ts'
import { parseInput } from './steps/parse_input.ts'
import { readIdempotencyKey } from './steps/read_idempotency_key.ts'
import { recordCredentialUse } from './steps/record_credential_use.ts'
import { requireAccess, requireFieldAccess } from './steps/require_access.ts'
import { requireCardAccess } from './steps/require_card_access.ts'
import { storeApproval } from './steps/store_approval.ts'
import { removeUnusedFile, storeInputFile } from './steps/store_file.ts'

/** The steps of every call before its handler, in order. */
const steps: readonly Step[] = [
  authenticate,
  limitCallRate,
  requireAccess,
  readIdempotencyKey,
  parseInput,
  requireFieldAccess,
  storeInputFile,
  recordCredentialUse,
  requireCardAccess,
]

/** Runs an operation in its cell: the only way in, for every door. */
export async function invoke(runtime: Runtime, call: Call): Promise<Response> {
  if (runtime.cells === null) return invokeIn(runtime, call)
  const response = await fanOut(runtime.cells, call, invokeIn)
  return response ?? invokeIn(await runtimeOfCall(runtime, call), call)
}

async function invokeIn(runtime: Runtime, call: Call): Promise<Response> {
  const started = runtime.clock.monotonic()
  const invocation = makeInvocation(runtime, call)
  const response = await respond(invocation)
  if (invocation.request.upload !== undefined) await removeUnusedFile(invocation, response)
  const rate = invocation.rate ?? (await peekRate(invocation))
  Object.assign(response.headers, rateHeaders(rate.subject, rate.verdict), invocation.headers)
  recordCall(invocation, response, started)
  return response
}

async function respond(invocation: Invocation): Promise<Response> {
  try {
    for (const step of steps) await step(invocation)
    return await perform(invocation)
  } catch (cause) {
    return refuse(invocation, cause)
  }
}

async function refuse(invocation: Invocation, cause: unknown): Promise<Response> {
  try {
    await auditRefusal(invocation, cause)
    const isForOwner = cause instanceof ApprovalRequired
    return responseTo(invocation, isForOwner ? await storeApproval(invocation, cause) : cause)
  } catch (failure) {
    return responseTo(invocation, failure)
  }
}

function responseTo({ runtime, operation, request }: Invocation, cause: unknown): Response {
  const problem = problemOf(cause)
  runtime.metrics.problems.inc({ operation: operation.name, code: problem.code })
  if (problem.status >= 500 && problem.cause !== undefined) {
    const context = { operation: operation.name, request_id: request.id }
    runtime.log.error('a call failed', context, problem.cause)
  }
  return problemResponse(problem, request.id)
}

function recordCall(
  { runtime: { log, metrics, clock }, operation, request, caller, operator }: Invocation,
  { status }: Response,
  started: number,
): void {
  const seconds = (clock.monotonic() - started) / 1_000
  metrics.request_seconds.observe({ operation: operation.name, status }, seconds)
  log.info('call', {
    operation: operation.name,
    status,
    ms: Math.round(seconds * 10_000) / 10,
    request_id: request.id,
    account_id: caller?.account_id,
    credential: caller?.id ?? operator?.id,
    ip: request.ip,
  })
}
