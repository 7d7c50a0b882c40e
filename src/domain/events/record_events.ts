import type { NewEvent } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { lockAccountHead } from './account_head_store.ts'
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
 * which must be the transaction's last lock: others then wait no longer than a commit.
 */
export async function recordEvents(
  tx: Tx,
  account_id: string,
  events: readonly NewEvent[],
  { stamp, client_id = null, ...shared }: EventMetadata,
): Promise<void> {
  const head = await lockAccountHead(tx, account_id)
  for (const event of events) {
    const owned = { ...stamp(head.last_event_id), account_id }
    head.last_event_id = owned.id
    const isNumbered = isWebhookEvent(event.type)
    if (isNumbered) head.event_sequence += 1n
    const sequence = Number(head.event_sequence)
    const envelope = { ...shared, ...owned, sequence: isNumbered ? sequence : null }
    const isSent = isNumbered || isNamedEvent(event.type)
    await insertEvent(tx, {
      ...event,
      ...owned,
      sequence: envelope.sequence,
      body: isSent ? eventBody(event, envelope) : null,
      client_id,
      event_sequence: head.event_sequence,
    })
  }
}

type StoredEvent = NewEvent & {
  id: string
  account_id: string
  sequence: number | null
  body: string | null
  client_id: string | null
  created_at: Date
  /** The account's last number, after this event. */
  event_sequence: bigint
}

/**
 * Writes the event, its outbox row and the sequence row in one statement. It sends no NOTIFY, which
 * would serialize the commits of purchases; the fan-out task polls the outbox and notifies instead.
 */
async function insertEvent(tx: Tx, event: StoredEvent): Promise<void> {
  await tx.run(
    `with event as (
       insert into events (account_id, id, sequence, type, activity_type, severity, message,
                           card_id, amount_micros, resource_type, resource_id, body, created_at,
                           client_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    returning account_id, id),
     head as (
       update account_heads set event_sequence = $15, last_event_id = $2 where account_id = $1)
     insert into outbox (account_id, event_id) select account_id, id from event`,
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
      event.event_sequence,
    ],
  )
}
