import type { Dependencies, NewAuditEntry, NewEvent } from '#domain/context/context.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { recordAudit } from './audit.ts'

type EventMetadata = Pick<Dependencies, 'clock' | 'newId' | 'settings'>
type Told = { events?: readonly NewEvent[]; entries?: readonly NewAuditEntry[] }

/** What a background task did to an account; the last thing its transaction writes. */
export async function emitAsSystem(
  tx: Tx,
  { clock, newId, settings }: EventMetadata,
  account_id: string,
  { events = [], entries = [] }: Told,
): Promise<void> {
  const stamp = (prefix: 'evt' | 'aud') => () => {
    const created_at = clock.now()
    return { id: newId(prefix, created_at), created_at }
  }
  const livemode = settings.mode === 'live'
  if (events.length > 0) {
    await recordEvents(tx, account_id, events, { livemode, request: null, stamp: stamp('evt') })
  }
  await recordAudit(tx, account_id, entries, {
    actor_type: 'system',
    actor_id: null,
    actor_name: null,
    operation: null,
    ip: null,
    user_agent: null,
    request_id: null,
    stamp: stamp('aud'),
  })
}
