import type { Dependencies } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { hasOutbox, type OutboxEvent, takeFromOutbox } from './outbox_store.ts'

/** Writes what it makes of the events in the transaction that takes them out of the outbox. */
export type EventConsumer = (tx: Tx, events: readonly OutboxEvent[]) => Promise<void>

const BATCH = 500
/** A purchase is told of within moments. */
const EVERY_MS = 200
/** The node that commits an event fans it out, and another one only if that node has died. */
const IDLE_MS = 3_000

/** Every event is heard by every hearer exactly once, whatever crashes: all of it, or none yet. */
export function fanOutEventsTask(
  { db, fail }: Pick<Dependencies, 'db' | 'fail'>,
  hearers: readonly EventConsumer[],
): Task {
  const once = () =>
    db.transaction(async (tx) => {
      const events = await takeFromOutbox(tx, BATCH)
      if (events.length === 0) return 0
      for (const hear of hearers) await hear(tx, events)
      fail('events_fanned_out')
      return events.length
    })
  return {
    name: 'fan_out_events',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    at_start: true,
    run: async () => {
      if (!(await hasOutbox(db))) return
      while ((await once()) === BATCH);
    },
  }
}
