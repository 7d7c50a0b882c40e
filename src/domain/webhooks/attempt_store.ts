import { notFound } from '#contract/common_problems.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { AttemptRow } from './attempt.ts'

export type ListedAttempt = AttemptRow & { next_attempt_at: Date | null }

/** The latest attempts of each of these webhooks, newest first. */
export function findRecentAttempts(
  tx: Tx,
  account_id: string,
  webhook_ids: readonly string[],
  limit: number,
): Promise<ListedAttempt[]> {
  return tx.rows<ListedAttempt>(
    `select a.*, d.next_attempt_at
       from unnest($2::text[]) as w (id)
      cross join lateral (
              select * from delivery_attempts
               where account_id = $1 and webhook_id = w.id order by id desc limit $3) a
       left join deliveries d
         on d.event_id = a.event_id and d.webhook_id = a.webhook_id
        and d.attempts + d.replays = a.attempt
      order by a.id desc`,
    [account_id, webhook_ids, limit],
  )
}

type ReplayableEvent = { id: string; type: string; body: string; created_at: Date }

/** An event without a body is only in the activity stream and cannot be replayed. */
export async function findEventOf(
  tx: Tx,
  account_id: string,
  id: string,
): Promise<ReplayableEvent> {
  const [event] = await tx.rows<ReplayableEvent>(
    `select id, type, body, created_at from events
      where account_id = $1 and id = $2 and body is not null`,
    [account_id, id],
  )
  if (event === undefined) throw notFound('event')
  return event
}

/** Numbers the attempt after all others. The webhook must be locked, so no number is used twice. */
export async function insertReplay(
  tx: Tx,
  replay: Omit<AttemptRow, 'attempt' | 'trigger'>,
): Promise<ListedAttempt> {
  const key = [replay.account_id, replay.webhook_id, replay.event_id]
  const due = await tx.rows<{ next_attempt_at: Date }>(
    replay.status === 'succeeded'
      ? `delete from deliveries where account_id = $1 and webhook_id = $2 and event_id = $3`
      : `update deliveries set replays = replays + 1
          where account_id = $1 and webhook_id = $2 and event_id = $3
      returning next_attempt_at`,
    key,
  )
  const [row] = await tx.rows<AttemptRow>(
    `with earlier as materialized (
       select coalesce(max(attempt), 0) as last from delivery_attempts
        where account_id = $1 and webhook_id = $2 and event_id = $3)
     insert into delivery_attempts
       (account_id, webhook_id, event_id, attempt, id, event_type, trigger, url, status,
        response_status, response_excerpt, error, duration_ms, created_at)
     select $1, $2, $3, last + 1, $4, $5, 'replay', $6, $7, $8, $9, $10, $11, $12 from earlier
  returning *`,
    [
      ...key,
      replay.id,
      replay.event_type,
      replay.url,
      replay.status,
      replay.response_status,
      replay.response_excerpt,
      replay.error,
      replay.duration_ms,
      replay.created_at,
    ],
  )
  if (row === undefined) throw new Error('the attempt was not stored')
  return { ...row, next_attempt_at: due[0]?.next_attempt_at ?? null }
}

/** A successful replay ends a series of failures too. */
export async function markDelivered(tx: Tx, account_id: string, id: string, at: Date) {
  await tx.run(
    `update webhooks set failing_since = null, last_delivery_at = greatest(last_delivery_at, $3)
      where account_id = $1 and id = $2`,
    [account_id, id, at],
  )
}

export async function deleteAttemptsBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  return tx.run(
    `delete from delivery_attempts where ctid in (
       select ctid from delivery_attempts where created_at < $1 limit $2)`,
    [before, limit],
  )
}
