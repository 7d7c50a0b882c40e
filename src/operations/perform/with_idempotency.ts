import { takesIdempotencyKey } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Response } from '#operations/call.ts'
import type { Invocation } from '#operations/invocation.ts'
import { problemResponse } from '#operations/problem_response.ts'
import type { CommitWith, Tx } from '#platform/postgres/db.ts'
import { fingerprintRequest } from './fingerprint_request.ts'
import { successResponse } from './read.ts'
import {
  type IdempotentRequest,
  isStorable,
  markReplayed,
  newStoredResponse,
  type StoredResponse,
  storedBody,
  takeKey,
} from './stored_responses.ts'
import type { Effect, Work } from './work.ts'

type KeyedWrite = {
  tx: Tx
  commitWith: CommitWith
  request: IdempotentRequest
  work: Work
  apply(effect: Effect): Promise<object>
  runHandler(): Promise<object>
}

/** Null if the call has no Idempotency-Key or the operation takes none. */
export function idempotentRequestOf(invocation: Invocation): IdempotentRequest | null {
  const { operation, request } = invocation
  const key = request.idempotency_key
  if (key === null || !takesIdempotencyKey(operation) || operation.never_stored) return null
  return fingerprintRequest(invocation, key)
}

/** The first call under a key runs and stores its response, refusals too; a repeat replays it. */
export async function runOnce(invocation: Invocation, write: KeyedWrite): Promise<Response> {
  const { tx, commitWith, request, work } = write
  const { operation, runtime } = invocation
  const stored = await takeKey(tx, request)
  if (stored !== undefined) return replay(invocation, write, stored)

  try {
    const [, output] = await Promise.all([tx.run('savepoint effect'), write.runHandler()])
    const response = { status: operation.status, body: storedBody(operation, output) }
    await commitWith([newStoredResponse(request, { ...response, now: runtime.clock.now() })])
    return successResponse(operation, JSON.stringify(output))
  } catch (cause) {
    if (!(cause instanceof Problem) || !isStorable(cause)) throw cause
    await tx.run('rollback to savepoint effect')
    await work.onRefusal(tx, cause)
    const refusal = problemResponse(cause, invocation.request.id)
    await commitWith([newStoredResponse(request, { ...refusal, now: runtime.clock.now() })])
    return refusal
  }
}

async function replay(
  { runtime, operation, input }: Invocation,
  { tx, request, work, apply }: KeyedWrite,
  stored: StoredResponse,
): Promise<Response> {
  await markReplayed(tx, request, runtime.clock.now())
  await work.onReplay(tx)
  const { status, problem_code } = stored
  const headers = { 'Idempotent-Replayed': 'true' }
  if (problem_code !== null) return { ...stored, headers }
  const renew = typeof work.handler === 'function' ? undefined : work.handler.replay
  let { body } = stored
  if (renew !== undefined) {
    const first = JSON.parse(body) as object
    body = JSON.stringify(await apply((context) => renew(context, first, input)))
  }
  return { ...successResponse(operation, body), status, headers }
}
