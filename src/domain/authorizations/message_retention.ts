import type { Tx } from '#platform/postgres/db.ts'

/** Deletes in small steps, so that a card message waits for none of them. */
const STEP_ROWS = 2_000
const STEPS_MAX = 50

/** A clearing that waits for a person still needs its message. */
const IS_UNUSED = `not exists (
  select from pending_clearings c
   where c.message_identity = m.identity and c.settled_at is null and c.refused_at is null)`

/** Deletes messages of ISO 8583 links: their identity begins with their time, in digits. */
export async function deleteMessagesBefore(tx: Tx, before: Date): Promise<void> {
  const end = before.toISOString().replace(/\D/g, '').slice(0, 14)
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const deleted = await tx.rows(
      `delete from network_messages where identity in (
         select m.identity from network_messages m
          where m.identity < $1 and ${IS_UNUSED} order by m.identity limit ${STEP_ROWS})
       returning 1`,
      [end],
    )
    if (deleted.length < STEP_ROWS) return
  }
}

/**
 * Looks through the next messages of processors, whose identities begin with no time, and deletes
 * the old ones. Returns the identity to continue after.
 */
export async function sweepUndatedMessages(
  tx: Tx,
  { before, after }: { before: Date; after: string },
): Promise<string> {
  const [row] = await tx.rows<{ last: string | null; rows: number }>(
    `with next as materialized (
       select identity, received_at from network_messages
        where identity > greatest($1, ':') order by identity limit ${STEP_ROWS}
     ), gone as (
       delete from network_messages m
        where m.identity in (select identity from next where received_at < $2) and ${IS_UNUSED})
     select max(identity) as last, count(*)::integer as rows from next`,
    [after, before],
  )
  return row === undefined || row.rows < STEP_ROWS ? '' : (row.last ?? '')
}
