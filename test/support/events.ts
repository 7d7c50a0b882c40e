import type { NewEvent } from '#domain/context/context.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import type { Runtime } from '#operations/runtime.ts'

type EventDependencies = Pick<Runtime, 'db' | 'clock' | 'newId'>

/** Records events in a separate transaction. */
export async function recordTestEvents(
  { db, clock, newId }: EventDependencies,
  account_id: string,
  events: readonly NewEvent[],
): Promise<void> {
  const stamp = () => {
    const created_at = clock.now()
    return { id: newId('evt', created_at), created_at }
  }
  await db.transaction((tx) =>
    recordEvents(tx, account_id, events, { livemode: false, request: null, stamp }),
  )
}

/** An event of this type with default values. */
export function plainEvent(type: NewEvent['type'], more: Partial<NewEvent> = {}): NewEvent {
  const [family = ''] = type.split('.')
  const resource = { type: family, id: `${family}_1` }
  return { type, message: `It was ${type}.`, resource, object: { id: resource.id }, ...more }
}
