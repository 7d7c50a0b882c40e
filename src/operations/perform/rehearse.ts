import { isWrite } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Response } from '#operations/call.ts'
import type { AnyHandler, Run } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { problemResponse } from '#operations/problem_response.ts'
import type { AccountDatabase, Tx } from '#platform/postgres/db.ts'
import { contextOf, preparingContextOf } from './contexts.ts'
import { isStorable, newStoredResponse, takeKey } from './stored_responses.ts'
import { idempotentRequestOf } from './with_idempotency.ts'
import type { Work } from './work.ts'
import { lockWrites } from './write.ts'

/** ready: it would succeed. stored: it was called before. A response: it was refused. */
export type Rehearsal = 'ready' | 'stored' | Response

/** Thrown to roll back a rehearsal that succeeded. */
class RehearsalRollback extends Error {}

/**
 * Finds out whether a call would succeed by running it, preparation included, in a transaction that
 * is rolled back. A refusal is committed: it is the response, stored under its key, and a wrong
 * password tried here counts as an attempt. Locks are taken in the usual order.
 */
export async function rehearse(invocation: Invocation, work: Work): Promise<Rehearsal> {
  const { runtime, request } = invocation
  const db = runtime.databaseOf(invocation.caller)
  try {
    const outcome = await db.transaction((tx) => attempt(invocation, tx, work))
    if (outcome === 'stored') return outcome
    if (idempotentRequestOf(invocation) === null || !isStorable(outcome)) throw outcome
    return problemResponse(outcome, request.id)
  } catch (cause) {
    if (cause instanceof RehearsalRollback) return 'ready'
    throw cause
  }
}

async function attempt(invocation: Invocation, tx: Tx, work: Work): Promise<'stored' | Problem> {
  const { operation, runtime, request } = invocation
  const idempotent = idempotentRequestOf(invocation)
  if (idempotent !== null && (await takeKey(tx, idempotent)) !== undefined) return 'stored'
  if (isWrite(operation)) await lockWrites(invocation, tx)
  const refusal = await refusalIn(invocation, tx, work)
  if (refusal === null) throw new RehearsalRollback()
  if (idempotent !== null && isStorable(refusal)) {
    const now = runtime.clock.now()
    const response = { ...problemResponse(refusal, request.id), now }
    await tx.write(newStoredResponse(idempotent, response))
  }
  return refusal
}

async function refusalIn(
  invocation: Invocation,
  tx: Tx,
  { handler }: Work,
): Promise<Problem | null> {
  try {
    const run = await prepareInside(invocation, tx, handler)
    if (run === null) return null
    await withSavepoint(tx, () => run(contextOf(invocation, tx), invocation.input))
    return null
  } catch (cause) {
    if (cause instanceof Problem) return cause
    throw cause
  }
}

/** Thrown instead of an outgoing request: an unpaid call must not have effects outside. */
class OutgoingRequest extends Error {}

/** Prepares without effects outside; null if the preparation went as far as an outgoing request. */
async function prepareInside(
  invocation: Invocation,
  tx: Tx,
  handler: AnyHandler,
): Promise<Run | null> {
  if (typeof handler === 'function') return handler
  const preparing = preparingContextOf(invocation, databaseInside(tx))
  const http = { ...preparing.http, send: () => Promise.reject(new OutgoingRequest()) }
  const blobs = {
    ...preparing.blobs,
    put: async (_name: string, source: AsyncIterable<Uint8Array>) => {
      for await (const _chunk of source);
    },
  }
  try {
    return await handler.prepare({ ...preparing, http, blobs }, invocation.input)
  } catch (cause) {
    if (cause instanceof OutgoingRequest) return null
    throw cause
  }
}

/** A database whose transactions are savepoints of this one. */
function databaseInside(tx: Tx): AccountDatabase {
  return {
    ...tx,
    transaction: (work) =>
      withSavepoint(tx, () =>
        work(tx, async (writes) => void (await Promise.all(writes.map(tx.write)))),
      ),
  }
}

async function withSavepoint<Value>(tx: Tx, work: () => Promise<Value>): Promise<Value> {
  await tx.run('savepoint rehearsal')
  try {
    const value = await work()
    await tx.run('release savepoint rehearsal')
    return value
  } catch (cause) {
    await tx.run('rollback to savepoint rehearsal')
    throw cause
  }
}
