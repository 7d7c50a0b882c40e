import type { Tx } from '#platform/postgres/db.ts'

/** An event as those hear it who tell others of it. */
export type OutboxEvent = {
  account_id: string
  id: string
  /** Null for what is activity only. */
  sequence: bigint | null
  type: string
  severity: 'info' | 'warning' | 'error'
  message: string
  created_at: Date
}

/** One look without a transaction: an idle service asks this all day long. */
export async function hasOutbox(tx: Tx): Promise<boolean> {
  return (await tx.rows('select from outbox limit 1')).length > 0
}

/** Takes events out of the outbox, oldest first; rows that another node has taken are left out. */
export function takeFromOutbox(tx: Tx, limit: number): Promise<OutboxEvent[]> {
  return tx.rows<OutboxEvent>(
    `with taken as (
       delete from outbox
        where ctid = any(array(
                select ctid from outbox order by event_id limit $1 for update skip locked))
    returning account_id, event_id)
     select e.account_id, e.id, e.sequence, e.type, e.severity, e.message, e.created_at
       from taken t join events e on e.account_id = t.account_id and e.id = t.event_id
      order by e.id`,
    [limit],
  )
}
