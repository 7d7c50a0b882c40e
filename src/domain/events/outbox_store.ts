import type { Tx } from '#platform/postgres/db.ts'

/** An event as its consumers get it: webhooks, emails and live streams. */
export type OutboxEvent = {
  account_id: string
  id: string
  /** Null for types that `*` does not include. */
  sequence: bigint | null
  type: string
  severity: 'info' | 'warning' | 'error'
  message: string
  resource_id: string
  card_id: string | null
  created_at: Date
}

/** Runs without a transaction, because an idle service runs it all day. */
export async function hasOutboxEvent(tx: Tx): Promise<boolean> {
  return (await tx.rows('select from outbox limit 1')).length > 0
}

/**
 * Removes events from the outbox, oldest first, and skips rows that another node has locked. With
 * the limit as a parameter, PostgreSQL would plan the statement for every batch.
 */
export function takeFromOutbox(tx: Tx, limit: number): Promise<OutboxEvent[]> {
  return tx.rows<OutboxEvent>(
    `with taken as (
       delete from outbox
        where ctid = any(array(
                select ctid from outbox order by event_id limit ${limit} for update skip locked))
    returning account_id, event_id)
     select e.account_id, e.id, e.sequence, e.type, e.severity, e.message, e.resource_id,
            e.card_id, e.created_at
       from taken t join events e on e.account_id = t.account_id and e.id = t.event_id
      order by e.id`,
  )
}
