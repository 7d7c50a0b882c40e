import { isWrite } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { requireVelocity } from '#domain/risk/velocity.ts'
import type { AccountDatabase, Tx } from '#platform/postgres/db.ts'
import type { Answer } from './call.ts'
import { contextOf, preparingContextOf, type Running } from './contexts.ts'
import { handlerOf, type LooseHandler } from './handlers.ts'
import { lockAccountWrites } from './perform.ts'
import { refusalAnswer } from './refusal.ts'
import {
  findStoredAnswer,
  type IdempotentCall,
  isStorable,
  lockIdempotencyKey,
  storeAnswer,
} from './steps/replay_idempotent.ts'
import { withinCards } from './steps/require_card_access.ts'

/** ready: nothing speaks against it. stored: it was answered before. refused: with this answer. */
export type Rehearsal = 'ready' | 'stored' | Answer

/** Thrown to undo what has turned out well. */
class WentWell extends Error {}

/**
 * Finds out whether a call would succeed, by making it, preparation and all, in one transaction
 * that is undone. A refusal is not undone: it is the answer, kept under its key, and a wrong
 * password that was tried here has been tried. Locks are taken in the usual order.
 */
export async function rehearse(running: Running, call: IdempotentCall | null): Promise<Rehearsal> {
  try {
    const db = running.runtime.databaseOf(running.caller)
    const outcome = await db.transaction((tx) => attempt(running, tx, call))
    if (!(outcome instanceof Problem)) return outcome
    if (call === null || !isStorable(outcome)) throw outcome
    return refusalAnswer(outcome, running.request.id)
  } catch (cause) {
    if (cause instanceof WentWell) return 'ready'
    throw cause
  }
}

async function attempt(
  running: Running,
  tx: Tx,
  call: IdempotentCall | null,
): Promise<'stored' | Problem> {
  const { operation, caller, runtime, request } = running
  if (call !== null) {
    await lockIdempotencyKey(tx, call)
    if ((await findStoredAnswer(tx, call)) !== undefined) return 'stored'
  }
  if (caller !== null && isWrite(operation)) await lockAccountWrites(tx, caller.account_id)
  const refusal = await refusalIn(running, tx)
  if (refusal === null) throw new WentWell()
  if (call !== null && isStorable(refusal)) {
    const now = runtime.clock.now()
    await storeAnswer(tx, call, { ...refusalAnswer(refusal, request.id), now })
  }
  return refusal
}

async function refusalIn(running: Running, tx: Tx): Promise<Problem | null> {
  const { operation, caller, request, input } = running
  try {
    const ready = await prepared(running, tx, handlerOf(operation.name))
    if (ready === null) return null
    await withinSavepoint(tx, async () => {
      const context = contextOf(running, tx)
      const counted = { ...context, operation: operation.name, ip: request.ip, caller }
      if (isWrite(operation)) await requireVelocity(tx, counted)
      withinCards(operation.name as OperationName, caller, await ready(context, input))
    })
    return null
  } catch (cause) {
    if (cause instanceof Problem) return cause
    throw cause
  }
}

/** Where a rehearsal comes to an end: what is outside must not hear of a call that is not paid. */
class ReachedOutside extends Error {}

/** What a preparation answers with; null where it would have gone outside, and may. */
async function prepared(running: Running, tx: Tx, handler: LooseHandler) {
  if (typeof handler === 'function') return handler
  const preparing = preparingContextOf(running, within(tx))
  const http = {
    ...preparing.http,
    send: () => Promise.reject(new ReachedOutside()),
  }
  const blobs = {
    ...preparing.blobs,
    put: async (_name: string, source: AsyncIterable<Uint8Array>) => {
      for await (const _chunk of source);
    },
  }
  try {
    return await handler.prepare({ ...preparing, http, blobs }, running.input)
  } catch (cause) {
    if (cause instanceof ReachedOutside) return null
    throw cause
  }
}

/** The database as a preparation sees it, all of it inside one transaction. */
function within(tx: Tx): AccountDatabase {
  return {
    ...tx,
    transaction: (work) =>
      withinSavepoint(tx, () =>
        work(tx, async (writes) => void (await Promise.all(writes.map(tx.write)))),
      ),
  }
}

async function withinSavepoint<Value>(tx: Tx, work: () => Promise<Value>): Promise<Value> {
  await tx.run('savepoint rehearsed')
  try {
    const value = await work()
    await tx.run('release savepoint rehearsed')
    return value
  } catch (cause) {
    await tx.run('rollback to savepoint rehearsed')
    throw cause
  }
}
