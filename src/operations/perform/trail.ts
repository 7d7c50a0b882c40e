import { noteCredentialChange } from '#domain/accounts/credential_change.ts'
import { recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import { clientIdOf } from '#domain/context/client_id.ts'
import type {
  Caller,
  NewAuditEntry,
  NewEvent,
  RequestContext,
  SecurityAlert,
  Trail,
} from '#domain/context/context.ts'
import { makeStamp } from '#domain/context/stamp.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import { insertSecurityNotices } from '#domain/notices/security_alerts.ts'
import type { Operator } from '#domain/operators/operator.ts'
import type { Runtime } from '#operations/runtime.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** The trail of a handler, written at the end of its transaction or dropped with it. */
export type CollectedTrail = Trail & {
  events: Map<string, NewEvent[]>
  entries: Map<string, NewAuditEntry[]>
  alerts: Map<string, SecurityAlert[]>
}

export function collectTrail(): CollectedTrail {
  const events = new Map<string, NewEvent[]>()
  const entries = new Map<string, NewAuditEntry[]>()
  const alerts = new Map<string, SecurityAlert[]>()
  return {
    events,
    entries,
    alerts,
    emit: (account_id, event) => add(events, account_id, event),
    audit: (account_id, entry) => add(entries, account_id, entry),
    alert: (account_id, alert) => add(alerts, account_id, alert),
  }
}

function add<Item>(lists: Map<string, Item[]>, account_id: string, item: Item): void {
  const list = lists.get(account_id)
  if (list === undefined) lists.set(account_id, [item])
  else list.push(item)
}

export type TrailSource = {
  caller: Caller | null
  operator: Operator | null
  request: RequestContext
  operation: string
}

/**
 * Emails first, because they lock nothing; then events before audit entries, accounts in key order.
 * These are the last locks of the transaction.
 */
export async function writeTrail(
  runtime: Runtime,
  tx: Tx,
  trail: CollectedTrail,
  source: TrailSource,
): Promise<void> {
  const { caller, request, operation } = source
  if (caller !== null) completeAudit(trail, caller, operation)
  const { clock, newId } = runtime
  for (const [account_id, alerts] of trail.alerts) {
    await insertSecurityNotices(tx, account_id, alerts, { ...runtime, request })
    await noteCredentialChange(tx, account_id, { alerts, now: clock.now() })
  }
  const event_metadata = {
    livemode: runtime.settings.mode === 'live',
    request: { id: request.id, idempotency_key: request.idempotency_key },
    stamp: makeStamp(runtime, 'evt'),
    client_id: clientIdOf(caller),
  }
  const accounts = new Set([...trail.events.keys(), ...trail.entries.keys()])
  for (const account_id of [...accounts].sort()) {
    const context = auditContextOf({ ...source, clock, newId })
    // Both lock the sequence row; together they take two round trips.
    await Promise.all([
      recordEvents(tx, account_id, trail.events.get(account_id) ?? [], event_metadata),
      recordAudit(tx, account_id, trail.entries.get(account_id) ?? [], context),
    ])
  }
}

/** A write without an audit entry gets one under its own name; a key's write gets another. */
function completeAudit(trail: CollectedTrail, caller: Caller, operation: string): void {
  const { account_id } = caller
  if (!trail.entries.has(account_id)) trail.audit(account_id, { action: operation })
  if (caller.kind === 'api_key') {
    trail.audit(account_id, {
      action: 'api_key.used',
      resource: { type: 'api_key', id: caller.id },
    })
  }
}
