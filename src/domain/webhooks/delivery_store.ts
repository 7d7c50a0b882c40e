import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import { bigints, ints, texts, timestamps } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { AttemptRow, Sending } from './attempt.ts'

/**
 * Told that deliveries have become due, so that workers need not wait for their next beat; or of a
 * subscription that has ended or changed, so that they do not send what they took for it before.
 */
export const DELIVERIES_CHANNEL = 'florin_deliveries'
export const DUE = 'due'

const notify = (tx: Tx, told: string) =>
  tx.rows('select pg_notify($1, $2)', [DELIVERIES_CHANNEL, told])

/** One due row for each subscription that asked for an event. */
export async function insertDeliveries(
  tx: Tx,
  events: readonly OutboxEvent[],
  now: Date,
): Promise<void> {
  const numbered = events.filter(({ sequence }) => sequence !== null)
  if (numbered.length === 0) return
  const inserted = await tx.run(
    // The share lock keeps a subscription from being deleted between the look and the insert.
    `insert into deliveries (account_id, webhook_id, event_id, next_attempt_at)
     select e.account_id, w.id, e.id, $5
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
              as e (account_id, id, type, sequence)
       join webhooks w
         on w.account_id = e.account_id and w.status = 'enabled'
        and w.after_sequence < e.sequence and w.events && array['*', e.type]
        for key share of w`,
    [
      texts(numbered, ({ account_id }) => account_id),
      texts(numbered, ({ id }) => id),
      texts(numbered, ({ type }) => type),
      bigints(numbered, ({ sequence }) => sequence),
      now,
    ],
  )
  if (inserted > 0) await notify(tx, DUE)
}

/** For a subscription that ends or is turned off. */
export async function dropDeliveries(tx: Tx, account_id: string, webhook_id: string) {
  await tx.run('delete from deliveries where account_id = $1 and webhook_id = $2', [
    account_id,
    webhook_id,
  ])
  await recallDeliveries(tx, webhook_id)
}

/** What workers took before and have not sent goes by what the subscription is from now on. */
export async function recallDeliveries(tx: Tx, webhook_id: string): Promise<void> {
  await notify(tx, webhook_id)
}

export type LeasedDelivery = Sending & { attempts: number; replays: number }

export type Claim = {
  /** Where the round goes on: after this subscription. */
  after: { account_id: string; webhook_id: string }
  limit: number
  /** For an endpoint that this worker does not know, and for one whose last attempts failed. */
  endpoint_max: number
  failing_max: number
  /** What it holds already for those it knows, and how much more it wants for them. */
  known: readonly { webhook_id: string; held: number; room: number }[]
  now: Date
  leased_until: Date
}

/**
 * Walks from subscription to subscription, whatever lies between them in the index, and takes the
 * oldest due rows of each up to what it may have at a time. A backlog of one endpoint is thus never
 * read while others wait. Rows that another worker is taking are passed over.
 */
export function claimDue(tx: Tx, claim: Claim): Promise<LeasedDelivery[]> {
  return tx.rows<LeasedDelivery>(
    `with recursive endpoints as (
       (select account_id, webhook_id from deliveries
         where (account_id, webhook_id) > ($1, $2) order by account_id, webhook_id limit 1)
       union all
       select next.account_id, next.webhook_id
         from endpoints e
        cross join lateral (
                select account_id, webhook_id from deliveries d
                 where (d.account_id, d.webhook_id) > (e.account_id, e.webhook_id)
                 order by d.account_id, d.webhook_id limit 1) next),
     due as (
       select row.*, w.url, w.secret_sealed, w.previous_secret_sealed, w.previous_secret_expires_at
         from endpoints e
         join webhooks w on w.account_id = e.account_id and w.id = e.webhook_id
          and w.status = 'enabled'
         left join unnest($4::text[], $5::int[], $10::int[]) as k (webhook_id, held, room)
           on k.webhook_id = e.webhook_id
        cross join lateral (
                select d.account_id, d.webhook_id, d.event_id, d.ctid
                  from deliveries d
                 where d.account_id = e.account_id and d.webhook_id = e.webhook_id
                   and d.next_attempt_at <= $8
                 order by d.next_attempt_at
                 limit greatest(0, case when w.failing_since is null
                                        then coalesce(k.room, $6::int)
                                        else $7::int - coalesce(k.held, 0) end)
                   for update skip locked) row
        limit $3)
     update deliveries d set next_attempt_at = $9
       from due
       join events e on e.account_id = due.account_id and e.id = due.event_id
      where d.ctid = due.ctid
  returning d.account_id, d.webhook_id, d.event_id, d.attempts, d.replays, e.type as event_type,
            e.body, due.url, due.secret_sealed, due.previous_secret_sealed,
            due.previous_secret_expires_at`,
    [
      claim.after.account_id,
      claim.after.webhook_id,
      claim.limit,
      claim.known.map(({ webhook_id }) => webhook_id),
      claim.known.map(({ held }) => held),
      claim.endpoint_max,
      claim.failing_max,
      claim.now,
      claim.leased_until,
      claim.known.map(({ room }) => room),
    ],
  )
}

export type MadeAttempt = Omit<AttemptRow, 'attempt' | 'trigger'> & {
  /** Those of the schedule that were made before this one. */
  attempts: number
  next_attempt_at: Date | null
}

/**
 * What became of attempts, many in one statement. Each is numbered here, after the replays that
 * came between. A row whose lease has run out and that another worker has taken on meanwhile has
 * moved to a later attempt, and is left to that worker.
 */
export async function recordAttempts(tx: Tx, made: readonly MadeAttempt[]): Promise<void> {
  await tx.run(RECORD, [
    texts(made, ({ account_id }) => account_id),
    texts(made, ({ webhook_id }) => webhook_id),
    texts(made, ({ event_id }) => event_id),
    ints(made, ({ attempts }) => attempts),
    texts(made, ({ id }) => id),
    texts(made, ({ event_type }) => event_type),
    texts(made, ({ url }) => url),
    texts(made, ({ status }) => status),
    ints(made, ({ response_status }) => response_status),
    texts(made, ({ response_excerpt }) => response_excerpt),
    texts(made, ({ error }) => error),
    ints(made, ({ duration_ms }) => duration_ms),
    timestamps(made, ({ created_at }) => created_at),
    timestamps(made, ({ next_attempt_at }) => next_attempt_at),
  ])
}

const RECORD = `
  with made as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[],
                         $7::text[], $8::text[], $9::int[], $10::text[], $11::text[], $12::int[],
                         $13::timestamptz[], $14::timestamptz[])
      as m (account_id, webhook_id, event_id, attempts, id, event_type, url, status,
            response_status, response_excerpt, error, duration_ms, created_at, next_attempt_at)),
  numbered as (
    select m.*, 1 + coalesce(
             (select d.attempts + d.replays from deliveries d
               where d.event_id = m.event_id and d.webhook_id = m.webhook_id),
             (select max(a.attempt) from delivery_attempts a
               where a.event_id = m.event_id and a.webhook_id = m.webhook_id),
             0) as number
      from made m),
  kept as (
    insert into delivery_attempts
      (account_id, webhook_id, event_id, attempt, id, event_type, trigger, url, status,
       response_status, response_excerpt, error, duration_ms, created_at)
    select account_id, webhook_id, event_id, number, id, event_type, 'automatic', url, status,
           response_status, response_excerpt, error, duration_ms, created_at
      from numbered
        on conflict (event_id, webhook_id, attempt) do nothing),
  done as (
    delete from deliveries d using made m
     where d.event_id = m.event_id and d.webhook_id = m.webhook_id
       and m.next_attempt_at is null),
  again as (
    update deliveries d set attempts = d.attempts + 1, next_attempt_at = m.next_attempt_at
      from made m
     where d.event_id = m.event_id and d.webhook_id = m.webhook_id
       and m.next_attempt_at is not null and d.attempts = m.attempts)
  update webhooks w
     set last_delivery_at = greatest(w.last_delivery_at, s.delivered_at),
         failing_since = case when s.delivered_at is null
                              then coalesce(w.failing_since, s.failed_at) end
    from (select account_id, webhook_id,
                 max(created_at) filter (where status = 'succeeded') as delivered_at,
                 min(created_at) filter (where status = 'failed') as failed_at
            from made group by account_id, webhook_id) s
   where w.account_id = s.account_id and w.id = s.webhook_id`

/** Gives rows back before their lease is over; unless somebody has moved them on. */
export async function releaseDeliveries(
  tx: Tx,
  leased: readonly LeasedDelivery[],
  now: Date,
): Promise<void> {
  if (leased.length === 0) return
  await tx.run(
    `update deliveries d set next_attempt_at = $4
       from unnest($1::text[], $2::text[], $3::int[]) as l (webhook_id, event_id, attempts)
      where d.event_id = l.event_id and d.webhook_id = l.webhook_id and d.attempts = l.attempts`,
    [
      leased.map(({ webhook_id }) => webhook_id),
      leased.map(({ event_id }) => event_id),
      leased.map(({ attempts }) => attempts),
      now,
    ],
  )
}
