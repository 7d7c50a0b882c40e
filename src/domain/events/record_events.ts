import type { NewEvent } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { lockAccountSequence, writeLastEvent } from './account_sequence_store.ts'
import { activityTypeOf, type Envelope, eventBody, isNamedEvent, isWebhookEvent } from './event.ts'

export type EventMetadata = Pick<Envelope, 'livemode' | 'request'> & {
  /**
   * Called under the lock of the sequence row, with the id of the account's last event: ids and
   * sequence numbers have one order.
   */
  stamp(after: string): { id: string; created_at: Date }
  /** The agent whose call emits the events. */
  client_id?: string | null
}

/**
 * Writes events in order with consecutive sequence numbers. It locks the account's sequence row,
 * which must be the transaction's last lock: others then wait no longer than a commit. All
 * statements after the lock take one round trip.
 */
export async function recordEvents(
  tx: Tx,
  account_id: string,
  events: readonly NewEvent[],
  { stamp, client_id = null, ...shared }: EventMetadata,
): Promise<void> {
  if (events.length === 0) return
  const last = await lockAccountSequence(tx, account_id)
  const rows = events.map((event): StoredEvent => {
    const owned = { ...stamp(last.last_event_id), account_id }
    last.last_event_id = owned.id
    const isNumbered = isWebhookEvent(event.type)
    if (isNumbered) last.event_sequence += 1n
    const sequence = isNumbered ? Number(last.event_sequence) : null
    const isSent = isNumbered || isNamedEvent(event.type)
    const body = isSent ? eventBody(event, { ...shared, ...owned, sequence }) : null
    return { ...event, ...owned, sequence, body, client_id }
  })
  await Promise.all([
    ...rows.map((row) => insertEvent(tx, row)),
    writeLastEvent(tx, account_id, last),
  ])
}

type StoredEvent = NewEvent & {
  id: string
  account_id: string
  sequence: number | null
  body: string | null
  client_id: string | null
  created_at: Date
}

/**
 * Writes the event and its outbox row. It sends no NOTIFY, which would serialize the commits of
 * purchases; the fan-out task polls the outbox and notifies instead.
 */
async function insertEvent(tx: Tx, event: StoredEvent): Promise<void> {
  const inserted = tx.run(
    `insert into events (account_id, id, sequence, type, activity_type, severity, message,
                         card_id, amount_micros, resource_type, resource_id, body, created_at,
                         client_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      event.account_id,
      event.id,
      event.sequence,
      event.type,
      activityTypeOf(event.type),
      event.severity ?? 'info',
      event.message,
      event.card_id ?? null,
      event.amount_micros ?? null,
      event.resource.type,
      event.resource.id,
      event.body,
      event.created_at,
      event.client_id,
    ],
  )
  const queued = tx.run('insert into outbox (account_id, event_id) values ($1, $2)', [
    event.account_id,
    event.id,
  ])
  await Promise.all([inserted, queued])
}
