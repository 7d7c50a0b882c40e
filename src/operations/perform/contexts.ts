import { recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Caller, NewAuditEntry, RateStatus } from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { AnyContext, AnyPreparingContext } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { rateStatus } from '#operations/steps/limit_rate.ts'
import type { AccountDatabase, Tx } from '#platform/postgres/db.ts'

/** Written out instead of spread: one is made for every call. */
export function contextOf(invocation: Invocation, tx: Tx): AnyContext {
  const { runtime, caller, operator, request } = invocation
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
    operator,
    request,
    rate: rateOf(invocation),
    now,
    newId: (prefix: IdPrefix, at: Date = now) => runtime.newId(prefix, at),
    claimEmail: runtime.claimEmail,
    isEmailClaimed: runtime.isEmailClaimed,
    cellDatabases: runtime.cellDatabases,
    // A read leaves no trail; a write replaces these.
    emit: ignore,
    audit: ignore,
    alert: ignore,
    credentialsChanged: ignore,
  }
}

const ignore = () => undefined

function rateOf({ rate }: Invocation): RateStatus {
  assert(rate !== null, 'a call is counted before it is performed')
  return rateStatus(rate)
}

export function preparingContextOf(
  invocation: Invocation,
  db: AccountDatabase = invocation.runtime.databaseOf(invocation.caller),
): AnyPreparingContext {
  const { runtime, operation, caller, operator, request } = invocation
  const source = { ...runtime, caller, operator, request, operation: operation.name }
  const auditIn = async (tx: Tx, account_id: string, entry: NewAuditEntry) => {
    const [id] = await recordAudit(tx, account_id, [entry], auditContextOf(source))
    assert(id !== undefined, 'a recorded entry has an ID')
    return id
  }
  return {
    ...contextOf(invocation, db),
    db,
    auditIn,
    auditRefusal: async (account_id, entry) => {
      await db.transaction((tx) => auditIn(tx, account_id, entry))
    },
  }
}
