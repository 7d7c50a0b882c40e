import { isWrite, type OperationShape } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { recordAudit } from '#domain/access/audit.ts'
import { auditFactsOf } from '#domain/access/audit_facts.ts'
import { notifyCredentialsChanged } from '#domain/access/credential_store.ts'
import { requireVelocity } from '#domain/access/velocity.ts'
import { assert } from '#kernel/assert.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type {
  Caller,
  Context,
  NewAuditEntry,
  PreparingContext,
  RateStanding,
  RequestFacts,
} from '#platform/context.ts'
import type { Tx } from '#platform/db.ts'
import type { Answer } from './call.ts'
import { handlerOf, type LooseHandler, type LooseRun } from './handlers.ts'
import type { Programme } from './programme.ts'
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
import { requireCardAccess, withinCards } from './steps/require_card_access.ts'
import { collectTrail, writeTrail } from './trail.ts'

export type Running = {
  programme: Programme
  operation: OperationShape
  caller: Caller | null
  request: RequestFacts
  rate: RateStanding
  input: Record<string, unknown>
}

/** Runs the handler: a read on its own, a write in one transaction with all that it leaves. */
export async function run(running: Running): Promise<Answer> {
  const handler = handlerOf(running.operation.name)
  await holdToCards(running)
  if (!isWrite(running.operation)) return read(running, handler)
  const call = idempotencyOf(running)
  const makeRun = await prepared(running, handler, call)
  const changed = new Set<string>()
  const answer = await running.programme.db.transaction((tx) =>
    write(running, { tx, handler, call, makeRun, changed }),
  )
  // This node forgets at once; the others hear of it by the notice that went out at commit.
  for (const account_id of changed) running.programme.credentials.forget(account_id)
  running.programme.fail('before_reply')
  return answer
}

async function read(running: Running, handler: LooseHandler): Promise<Answer> {
  const { programme, operation, caller, input } = running
  const ready =
    typeof handler === 'function'
      ? handler
      : await handler.prepare(preparingContextOf(running), input)
  const output = await ready(contextOf(running, programme.db), input)
  programme.fail('before_reply')
  const seen = withinCards(operation.name as OperationName, caller, output)
  return success(operation, JSON.stringify(seen))
}

/** A token may be tied to cards; that holds whatever the handler does about it. */
async function holdToCards(running: Running): Promise<void> {
  const { operation, caller, input } = running
  if (caller === null || caller.card_ids === null) return
  await requireCardAccess(operation.name as OperationName, caller, input, (name, other) => {
    const handler = handlerOf(name)
    if (typeof handler !== 'function') throw new Error('a read has nothing to prepare')
    return handler(contextOf(running, running.programme.db), other)
  })
}

type Writing = {
  tx: Tx
  handler: LooseHandler
  call: IdempotentCall | null
  makeRun: () => LooseRun
  /** Accounts whose credentials this changes. */
  changed: Set<string>
}

async function write(running: Running, writing: Writing): Promise<Answer> {
  const { tx, call } = writing
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
    await storeAnswer(tx, call, { status, body, now: running.programme.clock.now() })
    return success(running.operation, JSON.stringify(output))
  } catch (cause) {
    if (!(cause instanceof Problem) || !isStorable(cause)) throw cause
    await tx.run('rollback to savepoint effect')
    const refusal = refusalAnswer(cause, running.request.id)
    await storeAnswer(tx, call, { ...refusal, now: running.programme.clock.now() })
    return refusal
  }
}

function effect(running: Running, writing: Writing): Promise<object> {
  const { operation, request, input } = running
  return withTrail(running, writing, async (context) => {
    const counted = { ...context, operation: operation.name, ip: request.ip }
    await requireVelocity(writing.tx, { ...counted, caller: running.caller })
    return writing.makeRun()(context, input)
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
  running.programme.fail('after_handler')
  for (const account_id of changed) await notifyCredentialsChanged(tx, account_id)
  await writeTrail(running.programme, tx, trail, { ...running, operation: running.operation.name })
  return output
}

/**
 * Calls of one account that write do so one after the other, and the moment of a call is taken
 * under this lock: ids follow the order of commits, so a list that is walked from its old end
 * skips nothing. Taken after the idempotency key and before every lock of a handler.
 */
async function lockAccountWrites(tx: Tx, account_id: string): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1))', [account_id])
}

async function replay(running: Running, writing: Writing, stored: StoredAnswer): Promise<Answer> {
  const { tx, call, handler } = writing
  if (call !== null) await markReplayed(tx, call, running.programme.clock.now())
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

function idempotencyOf({
  programme,
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
  return idempotentCall({ operation, caller, input: asked, key, keys: programme.keys })
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
  const { programme } = running
  if (call !== null && (await findStoredAnswer(programme.db, call)) !== undefined) {
    return () => {
      throw new Error('a stored answer is replayed, not run')
    }
  }
  try {
    const ready = await handler.prepare(preparingContextOf(running), running.input)
    return () => ready
  } catch (cause) {
    return () => {
      throw cause
    }
  }
}

/** Written out, not spread together: every call makes one. */
function contextOf(running: Running, tx: Tx): Context {
  const { programme, caller, request, rate } = running
  const now = programme.clock.now()
  return {
    tx,
    settings: programme.settings,
    clock: programme.clock,
    random: programme.random,
    keys: programme.keys,
    probes: programme.probes,
    screener: programme.screener,
    blobs: programme.blobs,
    http: programme.http,
    caller: caller as Caller,
    request,
    rate,
    now,
    newId: (prefix: IdPrefix, at: Date = now) => programme.newId(prefix, at),
    // What is told here is not written: a read leaves no trail.
    emit: silent,
    audit: silent,
    alert: silent,
    credentialsChanged: silent,
  }
}

const silent = () => undefined

function preparingContextOf(running: Running): PreparingContext {
  const { programme, operation } = running
  const facts = auditFactsOf({ ...programme, ...running, operation: operation.name })
  const auditIn = async (tx: Tx, account_id: string, entry: NewAuditEntry) => {
    const [id] = await recordAudit(tx, account_id, [entry], facts)
    assert(id !== undefined, 'an entry that was written has an id')
    return id
  }
  return {
    ...contextOf(running, programme.db),
    db: programme.db,
    auditIn,
    auditRefusal: async (account_id, entry) => {
      await programme.db.transaction((tx) => auditIn(tx, account_id, entry))
    },
  }
}

function success(operation: OperationShape, body: string): Answer {
  return { status: operation.status, body: operation.status === 204 ? '' : body, headers: {} }
}
