import type { NewEvent } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { activityTypeOf, type Envelope, eventBody, isWebhookEvent } from './event.ts'

export type EventMetadata = Pick<Envelope, 'livemode' | 'request'> & {
  /** Called under the head's lock, so that ids follow the order of the sequence. */
  stamp(): { id: string; created_at: Date }
}

/**
 * Writes events in order with consecutive sequence numbers. It locks the account's head, which must
 * be the last lock of the transaction; whoever waits for it waits for no more than a commit.
 */
export async function recordEvents(
  tx: Tx,
  account_id: string,
  events: readonly NewEvent[],
  { stamp, ...shared }: EventMetadata,
): Promise<void> {
  const numbered = events.filter((event) => isWebhookEvent(event.type)).length
  let sequence = await takeSequences(tx, account_id, numbered)
  for (const event of events) {
    const owned = { ...stamp(), account_id }
    const isNumbered = isWebhookEvent(event.type)
    if (isNumbered) sequence += 1
    await insertEvent(tx, {
      ...event,
      ...owned,
      sequence: isNumbered ? sequence : null,
      body: isNumbered ? eventBody(event, { ...shared, ...owned, sequence }) : null,
    })
  }
}

/** The number before the first of the taken ones. */
async function takeSequences(tx: Tx, account_id: string, count: number): Promise<number> {
  const [head] = await tx.rows<{ event_sequence: bigint }>(
    `update account_heads set event_sequence = event_sequence + $2
      where account_id = $1
  returning event_sequence`,
    [account_id, count],
  )
  return Number(head?.event_sequence ?? 0n) - count
}

type StoredEvent = NewEvent & {
  id: string
  account_id: string
  sequence: number | null
  body: string | null
  created_at: Date
}

/**
 * The event and its place in the outbox, in one statement. Nobody is notified here: a notice makes
 * commits wait for each other, and these are the commits of purchases. The fan-out looks ten times
 * a second instead, and it is the one that notifies.
 */
async function insertEvent(tx: Tx, event: StoredEvent): Promise<void> {
  await tx.run(
    `with event as (
       insert into events (account_id, id, sequence, type, activity_type, severity, message,
                           card_id, amount_micros, resource_type, resource_id, body, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    returning account_id, id)
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
    ],
  )
}
