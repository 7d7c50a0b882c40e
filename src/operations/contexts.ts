import type { OperationShape } from '#contract/operation.ts'
import type { Problem } from '#contract/problem.ts'
import { recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type {
  Caller,
  Context,
  NewAuditEntry,
  PreparingContext,
  RateStatus,
  RequestContext,
} from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { AccountDatabase, Tx } from '#platform/postgres/db.ts'
import type { Runtime } from './runtime.ts'

/** A call that has passed every step and is to be run. */
export type Running = {
  runtime: Runtime
  operation: OperationShape
  caller: Caller | null
  request: RequestContext
  rate: RateStatus
  input: Record<string, unknown>
  /** Why the input cannot be accepted, where that is an answer to keep. */
  refusal: Problem | null
  /** What every answer to this call carries, whatever it says. */
  headers: Record<string, string>
  /** Made by the house itself: nobody is charged for it. */
  is_free: boolean
}

/** Written out, not spread together: every call makes one. */
export function contextOf(running: Running, tx: Tx): Context {
  const { runtime, caller, request, rate } = running
  const now = runtime.clock.now()
  return {
    tx,
    settings: runtime.settings,
    clock: runtime.clock,
    random: runtime.random,
    keys: runtime.keys,
    probes: runtime.probes,
    screener: runtime.screener,
    blobs: runtime.blobs,
    http: runtime.http,
    caller: caller as Caller,
    request,
    rate,
    now,
    newId: (prefix: IdPrefix, at: Date = now) => runtime.newId(prefix, at),
    // What is told here is not written: a read leaves no trail.
    emit: silent,
    audit: silent,
    alert: silent,
    credentialsChanged: silent,
  }
}

const silent = () => undefined

export function preparingContextOf(
  running: Running,
  db: AccountDatabase = running.runtime.databaseOf(running.caller),
): PreparingContext {
  const { runtime, operation } = running
  const facts = auditContextOf({ ...runtime, ...running, operation: operation.name })
  const auditIn = async (tx: Tx, account_id: string, entry: NewAuditEntry) => {
    const [id] = await recordAudit(tx, account_id, [entry], facts)
    assert(id !== undefined, 'an entry that was written has an id')
    return id
  }
  return {
    ...contextOf(running, db),
    db,
    auditIn,
    auditRefusal: async (account_id, entry) => {
      await db.transaction((tx) => auditIn(tx, account_id, entry))
    },
  }
}
