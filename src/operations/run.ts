import { isWrite, type OperationShape } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import { recordAudit } from '#domain/access/audit.ts'
import { auditFactsOf } from '#domain/access/audit_facts.ts'
import { notifyCredentialsChanged } from '#domain/access/credential_store.ts'
import type {
  Caller,
  Context,
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
  if (typeof handler !== 'function') throw new Error('a read has nothing to prepare')
  const { programme } = running
  const context = contextOf(running, programme.db)
  return success(running.operation, JSON.stringify(await handler(context, running.input)))
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
  const { tx, call, handler } = writing
  if (call === null)
    return success(running.operation, JSON.stringify(await effect(running, writing)))
  await lockIdempotencyKey(tx, call)
  const stored = await findStoredAnswer(tx, call)
  if (stored !== undefined) return replay(running, writing, handler, stored)

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

async function effect(running: Running, { tx, makeRun, changed }: Writing): Promise<unknown> {
  const trail = collectTrail()
  const context: Context = {
    ...contextOf(running, tx),
    emit: trail.emit,
    audit: trail.audit,
    credentialsChanged: (account_id) => changed.add(account_id),
  }
  const output = await makeRun()(context, running.input)
  running.programme.fail('after_handler')
  for (const account_id of changed) await notifyCredentialsChanged(tx, account_id)
  await writeTrail(running.programme, tx, trail, { ...running, operation: running.operation.name })
  return output
}

async function replay(
  running: Running,
  { tx, call }: Writing,
  handler: LooseHandler,
  stored: StoredAnswer,
): Promise<Answer> {
  if (call !== null) await markReplayed(tx, call, running.programme.clock.now())
  const renew = typeof handler === 'function' ? undefined : handler.replay
  const isSuccess = stored.status < 300
  const body =
    renew === undefined || !isSuccess
      ? stored.body
      : JSON.stringify(await renew(contextOf(running, tx), JSON.parse(stored.body) as object))
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
  return idempotentCall({ operation, caller, input, key, keys: programme.keys })
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

function commonOf(running: Running) {
  const { programme, caller, request, rate } = running
  const now = programme.clock.now()
  return {
    settings: programme.settings,
    clock: programme.clock,
    random: programme.random,
    keys: programme.keys,
    probes: programme.probes,
    caller: caller as Caller,
    request,
    rate,
    now,
    newId: (prefix: Parameters<Programme['newId']>[0]) => programme.newId(prefix, now),
  }
}

/** What is told here is not written: for reads and replays, which leave no trail. */
function contextOf(running: Running, tx: Tx): Context {
  const silent = () => undefined
  return { ...commonOf(running), tx, emit: silent, audit: silent, credentialsChanged: silent }
}

function preparingContextOf(running: Running): PreparingContext {
  const { programme, caller, request, operation } = running
  return {
    ...commonOf(running),
    db: programme.db,
    auditRefusal: (account_id, entry) =>
      programme.db.transaction((tx) =>
        recordAudit(
          tx,
          account_id,
          [entry],
          auditFactsOf({ ...programme, caller, request, operation: operation.name }),
        ),
      ),
  }
}

function success(operation: OperationShape, body: string): Answer {
  return { status: operation.status, body: operation.status === 204 ? '' : body, headers: {} }
}
