import type { Dependencies, NewAuditEntry, NewEvent } from '#domain/context/context.ts'
import { makeStamp } from '#domain/context/stamp.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { recordAudit } from './audit.ts'
import { systemAuditContext } from './audit_context.ts'

type TrailDependencies = {
  clock: Dependencies['clock']
  newId: Dependencies['newId']
  settings: Settings
}

type NewTrail = { events?: readonly NewEvent[]; entries?: readonly NewAuditEntry[] }

/**
 * Records what a background task changed in an account. Call it last in the transaction: it locks
 * the account's sequence row.
 */
export async function emitAsSystem(
  tx: Tx,
  dependencies: TrailDependencies,
  account_id: string,
  { events = [], entries = [] }: NewTrail,
): Promise<void> {
  const livemode = dependencies.settings.mode === 'live'
  const stamp = makeStamp(dependencies, 'evt')
  await Promise.all([
    recordEvents(tx, account_id, events, { livemode, request: null, stamp }),
    recordAudit(tx, account_id, entries, systemAuditContext(dependencies)),
  ])
}
