import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { hasOutboxEvent, type OutboxEvent, takeFromOutbox } from './outbox_store.ts'

/** Handles events in the transaction that removes them from the outbox. */
export type EventConsumer = (
  tx: Tx,
  events: readonly OutboxEvent[],
  /** Calls a function once the transaction is committed. */
  afterCommit: (callback: () => void) => void,
) => Promise<void>

const BATCH_MAX = 500
/** Bounds how late a webhook or notification of a purchase is sent. */
const EVERY_MS = 200
/** The node that commits an event fans it out; another node does so only if that one died. */
const IDLE_MS = 3_000

/** Passes every event to every consumer exactly once, even after a crash: all commit or none. */
export function fanOutEventsTask(
  { db, fail }: { db: Database; fail: Fail },
  consumers: readonly EventConsumer[],
  waitForConsumers: () => Promise<void> = async () => undefined,
): Task {
  const fanOutBatch = async () => {
    const { count, callbacks } = await db.transaction(async (tx) => {
      const events = await takeFromOutbox(tx, BATCH_MAX)
      const callbacks: (() => void)[] = []
      if (events.length === 0) return { count: 0, callbacks }
      const afterCommit = (callback: () => void) => void callbacks.push(callback)
      for (const consume of consumers) await consume(tx, events, afterCommit)
      fail('events_fanned_out')
      return { count: events.length, callbacks }
    })
    for (const callback of callbacks) callback()
    return count
  }
  return {
    name: 'fan_out_events',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    at_start: true,
    run: async () => {
      if (!(await hasOutboxEvent(db))) return
      while ((await fanOutBatch()) === BATCH_MAX) await waitForConsumers()
    },
  }
}
