import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import { findResourceAccount } from '#domain/operators/resource_account.ts'
import type { Response } from '#operations/call.ts'
import type { Run } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { contextOf, preparingContextOf } from './contexts.ts'
import { successResponse } from './read.ts'
import { findStoredResponse, type IdempotentRequest, takingKey } from './stored_responses.ts'
import { collectTrail, writeTrail } from './trail.ts'
import { idempotentRequestOf, runOnce } from './with_idempotency.ts'
import type { Effect, Work } from './work.ts'

/** A write and everything it leaves are one transaction. */
export async function runWrite(invocation: Invocation, work: Work): Promise<Response> {
  const { runtime, refusal } = invocation
  const request = idempotentRequestOf(invocation)
  if (refusal !== null && request === null) throw refusal
  const run = () => prepareAndWrite(invocation, work, request)
  if (request === null || typeof work.handler === 'function') return run()
  const db = runtime.databaseOf(invocation.caller)
  const isStored = async () => (await findStoredResponse(db, request)) !== undefined
  return takingKey(runtime.taken_keys, request, { run, isStored })
}

async function prepareAndWrite(
  invocation: Invocation,
  work: Work,
  request: IdempotentRequest | null,
): Promise<Response> {
  const { runtime, operation } = invocation
  const run = await prepareRun(invocation, work, request)
  const changed_accounts = new Set<string>()
  const response = await runtime
    .databaseOf(invocation.caller)
    .transaction(async (tx, commitWith) => {
      const apply = (effect: Effect) => withTrail(invocation, { tx, changed_accounts }, effect)
      const runHandler = () => apply((context) => run(context, invocation.input))
      if (request !== null) {
        return runOnce(invocation, { tx, commitWith, request, work, apply, runHandler })
      }
      return successResponse(operation, JSON.stringify(await runHandler()))
    })
  // Other nodes drop these from their caches when the notification of the commit arrives.
  for (const account_id of changed_accounts) runtime.credentials.forget(account_id)
  runtime.fail('before_reply')
  return response
}

/**
 * Does the slow work before the transaction. A refusal found here is thrown inside the transaction,
 * so that it is stored under the key. A call that was stored before is not prepared again.
 */
async function prepareRun(
  invocation: Invocation,
  { handler }: Work,
  request: IdempotentRequest | null,
): Promise<Run> {
  const { runtime, caller, input, refusal } = invocation
  if (refusal !== null) return rejecting(refusal)
  if (typeof handler === 'function') return handler
  const db = runtime.databaseOf(caller)
  if (request !== null && (await findStoredResponse(db, request)) !== undefined) {
    return rejecting(new Error('a stored response is replayed, not run'))
  }
  return handler.prepare(preparingContextOf(invocation), input).catch(rejecting)
}

const rejecting = (cause: unknown) => (): Promise<never> => Promise.reject(cause)

type WriteState = { tx: Tx; changed_accounts: Set<string> }

/** Runs the effect after earlier writes of the account, then writes events and audit entries. */
async function withTrail(
  invocation: Invocation,
  { tx, changed_accounts }: WriteState,
  effect: Effect,
): Promise<object> {
  const { runtime, operation, caller, operator, request } = invocation
  await lockWrites(invocation, tx)
  const trail = collectTrail()
  const output = await effect({
    ...contextOf(invocation, tx),
    emit: trail.emit,
    audit: trail.audit,
    alert: trail.alert,
    credentialsChanged: (account_id) => changed_accounts.add(account_id),
  })
  runtime.fail('after_handler')
  for (const account_id of changed_accounts) await notifyCredentialsChanged(tx, account_id)
  await writeTrail(runtime, tx, trail, { caller, operator, request, operation: operation.name })
  return output
}

/**
 * Writes of one account run one after the other, and `now` is read under this lock: IDs follow the
 * order of commits, so a list that is paged from its old end skips nothing. Taken after the
 * idempotency key and before every lock of a handler.
 */
export async function lockWrites({ caller, operator, input }: Invocation, tx: Tx): Promise<void> {
  const account_id =
    operator === null ? caller?.account_id : await findResourceAccount(tx, input['id'])
  if (account_id === undefined) return
  await tx.rows(`select pg_advisory_xact_lock(${keyOfText(1)})`, [account_id])
}
