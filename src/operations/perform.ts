import { isWrite, type OperationShape } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Context } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { PaymentRow } from '#domain/paid_calls/payment.ts'
import { stampOf } from '#domain/paid_calls/payment_context.ts'
import { owe, spend } from '#domain/paid_calls/payment_money.ts'
import { requireVelocity } from '#domain/risk/velocity.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Answer } from './call.ts'
import { contextOf, preparingContextOf, type Running } from './contexts.ts'
import { handlerOf, type LooseHandler, type LooseRun } from './handlers.ts'
import { refusalAnswer } from './refusal.ts'
import {
  findStoredAnswer,
  type IdempotentCall,
  idempotentCall,
  isStorable,
  lockIdempotencyKey,
  markReplayed,
  type StoredAnswer,
  storeAnswer,
  storedBody,
} from './steps/replay_idempotent.ts'
import { withinCards } from './steps/require_card_access.ts'
import { collectTrail, writeTrail } from './trail.ts'

/**
 * Runs the handler: a read on its own, a write in one transaction with all that it leaves. What was
 * paid for it is spent with it, or owed again where it is refused.
 */
export function perform(running: Running, payment: PaymentRow | null = null): Promise<Answer> {
  const handler = handlerOf(running.operation.name)
  return isWrite(running.operation)
    ? change(running, handler, payment)
    : read(running, handler, payment)
}

async function change(
  running: Running,
  handler: LooseHandler,
  payment: PaymentRow | null,
): Promise<Answer> {
  const call = idempotencyOf(running)
  const { refusal } = running
  if (refusal !== null && call === null) throw refusal
  const makeRun = refusal === null ? await prepared(running, handler, call) : thrower(refusal)
  const changed = new Set<string>()
  const db = running.runtime.databaseOf(running.caller)
  const answer = await db.transaction((tx) =>
    write(running, { tx, handler, call, makeRun, changed, payment }),
  )
  // This node forgets at once; the others hear of it by the notice that went out at commit.
  for (const account_id of changed) running.runtime.credentials.forget(account_id)
  running.runtime.fail('before_reply')
  return answer
}

async function read(
  running: Running,
  handler: LooseHandler,
  payment: PaymentRow | null,
): Promise<Answer> {
  const { runtime, operation, caller, input } = running
  const ready =
    typeof handler === 'function'
      ? handler
      : await handler.prepare(preparingContextOf(running), input)
  const db = runtime.databaseOf(caller)
  const output = await ready(contextOf(running, db), input)
  const seen = withinCards(operation.name as OperationName, caller, output)
  if (payment !== null) await db.transaction((tx) => spend(tx, payment, stampOf(runtime)))
  runtime.fail('before_reply')
  return success(operation, sharedText(operation, seen))
}

let last: { output: unknown; text: string } = { output: null, text: '' }

/**
 * Reads that shared a statement share its answer, one object that nobody changes, and so its text.
 * What must not be stored is not kept here either.
 */
function sharedText({ never_stored }: OperationShape, output: unknown): string {
  if (never_stored) return JSON.stringify(output)
  if (output !== last.output) last = { output, text: JSON.stringify(output) }
  return last.text
}

type Writing = {
  tx: Tx
  handler: LooseHandler
  call: IdempotentCall | null
  makeRun: () => LooseRun
  /** Accounts whose credentials this changes. */
  changed: Set<string>
  payment: PaymentRow | null
}

async function write(running: Running, writing: Writing): Promise<Answer> {
  const { tx, call, payment } = writing
  if (call === null)
    return success(running.operation, JSON.stringify(await effect(running, writing)))
  await lockIdempotencyKey(tx, call)
  const stored = await findStoredAnswer(tx, call)
  if (stored !== undefined) return replay(running, writing, stored)

  await tx.run('savepoint effect')
  try {
    const output = await effect(running, writing)
    const body = storedBody(running.operation, output)
    const { status } = running.operation
    await storeAnswer(tx, call, { status, body, now: running.runtime.clock.now() })
    return success(running.operation, JSON.stringify(output))
  } catch (cause) {
    if (!(cause instanceof Problem) || !isStorable(cause)) throw cause
    await tx.run('rollback to savepoint effect')
    if (payment !== null) await owe(tx, payment, cause.code, running.runtime.clock.now())
    const refusal = refusalAnswer(cause, running.request.id)
    await storeAnswer(tx, call, { ...refusal, now: running.runtime.clock.now() })
    return refusal
  }
}

function effect(running: Running, writing: Writing): Promise<object> {
  const { operation, request, input } = running
  const { payment } = writing
  return withTrail(running, writing, async (context) => {
    const counted = { ...context, operation: operation.name, ip: request.ip }
    await requireVelocity(writing.tx, { ...counted, caller: running.caller })
    const output = await writing.makeRun()(context, input)
    if (payment !== null) await spend(writing.tx, payment, stampOf(running.runtime))
    return output
  })
}

/** Does the work after earlier writes of the account, and writes what it tells when it is done. */
async function withTrail(
  running: Running,
  { tx, changed }: Writing,
  work: (context: Context) => Promise<object>,
): Promise<object> {
  if (running.caller !== null) await lockAccountWrites(tx, running.caller.account_id)
  const trail = collectTrail()
  const output = await work({
    ...contextOf(running, tx),
    emit: trail.emit,
    audit: trail.audit,
    alert: trail.alert,
    credentialsChanged: (account_id) => changed.add(account_id),
  })
  running.runtime.fail('after_handler')
  for (const account_id of changed) await notifyCredentialsChanged(tx, account_id)
  await writeTrail(running.runtime, tx, trail, { ...running, operation: running.operation.name })
  return output
}

/**
 * Calls of one account that write do so one after the other, and the moment of a call is taken
 * under this lock: ids follow the order of commits, so a list that is walked from its old end
 * skips nothing. Taken after the idempotency key and before every lock of a handler.
 */
export async function lockAccountWrites(tx: Tx, account_id: string): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1))', [account_id])
}

async function replay(running: Running, writing: Writing, stored: StoredAnswer): Promise<Answer> {
  const { tx, call, handler, payment } = writing
  const now = running.runtime.clock.now()
  if (call !== null) await markReplayed(tx, call, now)
  if (payment !== null) await owe(tx, payment, 'answered_before', now)
  const renew = typeof handler === 'function' ? undefined : handler.replay
  let { body } = stored
  if (renew !== undefined && stored.status < 300) {
    const kept = JSON.parse(body) as object
    const renewed = await withTrail(running, writing, (context) =>
      renew(context, kept, running.input),
    )
    body = JSON.stringify(renewed)
  }
  return {
    status: stored.status,
    body: stored.status === 204 ? '' : body,
    headers: { 'Idempotent-Replayed': 'true' },
  }
}

export function idempotencyOf({
  runtime,
  operation,
  caller,
  request,
  input,
}: Running): IdempotentCall | null {
  const key = request.idempotency_key
  const takesKey = operation.method === 'POST' || operation.method === 'PATCH'
  if (key === null || !takesKey || operation.never_stored) return null
  // A file is no part of the input, but a repeat with another one is another request.
  const asked = request.upload ? { ...input, sha256: request.upload.sha256 } : input
  return idempotentCall({ operation, caller, input: asked, key, keys: runtime.keys })
}

/**
 * Does the slow work before the transaction. A refusal found here is thrown inside it, so that it
 * is kept under the key like any other; and what is stored already is not prepared again.
 */
async function prepared(
  running: Running,
  handler: LooseHandler,
  call: IdempotentCall | null,
): Promise<() => LooseRun> {
  if (typeof handler === 'function') return () => handler
  const db = running.runtime.databaseOf(running.caller)
  if (call !== null && (await findStoredAnswer(db, call)) !== undefined) {
    return thrower(new Error('a stored answer is replayed, not run'))
  }
  try {
    const ready = await handler.prepare(preparingContextOf(running), running.input)
    return () => ready
  } catch (cause) {
    return thrower(cause)
  }
}

/** Thrown inside the transaction, so that it is stored under the key. */
function thrower(cause: unknown): () => never {
  return () => {
    throw cause
  }
}

function success(operation: OperationShape, body: string): Answer {
  return { status: operation.status, body: operation.status === 204 ? '' : body, headers: {} }
}
