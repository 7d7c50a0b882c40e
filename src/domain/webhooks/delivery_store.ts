import { isNamedEvent } from '#domain/events/event.ts'
import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import { bigints, ints, texts, timestamps } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { notify } from '#platform/postgres/notify.ts'
import type { AttemptRow, OutgoingDelivery } from './attempt.ts'

/**
 * The payload is DUE when deliveries became due, so nodes don't wait for their next tick, or the id
 * of a webhook that was deleted or changed, so nodes don't send what they have leased for it.
 */
export const DELIVERIES_CHANNEL = 'florin_deliveries'
export const DUE = 'due'

const notifyNodes = (tx: Tx, payload: string) => notify(tx, DELIVERIES_CHANNEL, payload)

/** Rows that a node can send now, by webhook. */
export type LeaseRoom = {
  limit: number
  /** For a webhook that is not in `known`. */
  endpoint_max: number
  known: readonly { webhook_id: string; room: number }[]
  leased_until: Date
}

const NO_ROOM: Omit<LeaseRoom, 'leased_until'> = { limit: 0, endpoint_max: 0, known: [] }

/** The rows that are leased, and the webhooks that have others, which are due. */
export type InsertedDeliveries = { leased: LeasedDelivery[]; due: string[] }

/**
 * Inserts a row for each webhook that is subscribed to an event. Those within the node's room are
 * leased to it and returned with all that an attempt needs, so they are written once and not read
 * again. The others are due, as are all rows of a webhook that is failing.
 */
export async function insertDeliveries(
  tx: Tx,
  events: readonly OutboxEvent[],
  now: Date,
  room: LeaseRoom = { ...NO_ROOM, leased_until: now },
): Promise<InsertedDeliveries> {
  const sent = events.filter(({ type, sequence }) => sequence !== null || isNamedEvent(type))
  if (sent.length === 0) return { leased: [], due: [] }
  const rows = await tx.rows<LeasedDelivery & { body: string | null }>(INSERT_DELIVERIES, [
    texts(sent, ({ account_id }) => account_id),
    texts(sent, ({ id }) => id),
    texts(sent, ({ type }) => type),
    bigints(sent, ({ sequence }) => sequence),
    now,
    room.leased_until,
    room.limit,
    room.endpoint_max,
    texts(room.known, ({ webhook_id }) => webhook_id),
    ints(room.known, (known) => known.room),
  ])
  const due = rows.filter(({ body }) => body === null).map(({ webhook_id }) => webhook_id)
  if (due.length > 0) await notifyNodes(tx, DUE)
  return { leased: rows.filter(({ body }) => body !== null), due }
}

const INSERT_DELIVERIES = `
  with subscribed as materialized (
    -- The share lock keeps a webhook from being deleted between the select and the insert.
    select e.account_id, w.id as webhook_id, e.id as event_id, e.type as event_type, w.url,
           w.secret_sealed, w.previous_secret_sealed, w.previous_secret_expires_at,
           w.failing_since, e.position
      from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
             with ordinality as e (account_id, id, type, sequence, position)
      join webhooks w
        on w.account_id = e.account_id and w.status = 'enabled'
       and case when e.sequence is null then e.type = any(w.events)
                else w.after_sequence < e.sequence and w.events && array['*', e.type] end
       for key share of w),
  numbered as (
    select s.*, row_number() over (partition by s.webhook_id order by s.position) as of_webhook,
           row_number() over () as of_all
      from subscribed s),
  divided as materialized (
    select n.*, n.failing_since is null and n.of_all <= $7::int
                and n.of_webhook <= coalesce(k.room, $8::int) as is_leased
      from numbered n
      left join unnest($9::text[], $10::int[]) as k (webhook_id, room)
        on k.webhook_id = n.webhook_id),
  inserted as (
    insert into deliveries (account_id, webhook_id, event_id, next_attempt_at)
    select account_id, webhook_id, event_id,
           case when is_leased then $6::timestamptz else $5::timestamptz end
      from divided)
  select d.account_id, d.webhook_id, d.event_id, 0 as attempts, 0 as replays, d.event_type,
         e.body, d.url, d.secret_sealed, d.previous_secret_sealed, d.previous_secret_expires_at
    from divided d
    join events e on e.account_id = d.account_id and e.id = d.event_id
   where d.is_leased
   union all
  select distinct null, webhook_id, null, 0, 0, null, null, null, null, null, null::timestamptz
    from divided
   where not is_leased`

/** For a webhook that is deleted or disabled. */
export async function dropDeliveries(tx: Tx, account_id: string, webhook_id: string) {
  await tx.run('delete from deliveries where account_id = $1 and webhook_id = $2', [
    account_id,
    webhook_id,
  ])
  await recallDeliveries(tx, webhook_id)
}

/** Makes nodes release the rows they have leased but not sent, and claim them again. */
export async function recallDeliveries(tx: Tx, webhook_id: string): Promise<void> {
  await notifyNodes(tx, webhook_id)
}

export type LeasedDelivery = OutgoingDelivery & { attempts: number; replays: number }

export type ClaimedDelivery = LeasedDelivery & { is_failing: boolean }

export type Claim = {
  /** The round-robin continues after this webhook. */
  after: { account_id: string; webhook_id: string }
  limit: number
  /** Limits for a webhook that is not in `known`, and for one that is failing. */
  endpoint_max: number
  failing_max: number
  /** Rows that this node holds for a webhook, and how many more it can take. */
  known: readonly { webhook_id: string; held: number; room: number }[]
  now: Date
  leased_until: Date
}

/**
 * Leases the oldest due rows of each webhook, up to its limit. The recursive query jumps in the
 * index from webhook to webhook, so the backlog of one is not read while others wait. Rows that
 * another node has locked are skipped.
 */
export function claimDue(tx: Tx, claim: Claim): Promise<ClaimedDelivery[]> {
  return tx.rows<ClaimedDelivery>(
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
       select row.*, w.url, w.secret_sealed, w.previous_secret_sealed, w.previous_secret_expires_at,
              w.failing_since is not null as is_failing
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
            due.previous_secret_expires_at, due.is_failing`,
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

export type CompletedAttempt = Omit<AttemptRow, 'attempt' | 'trigger'> & {
  /** Scheduled attempts before this one; replays don't count. */
  attempts: number
  next_attempt_at: Date | null
}

/**
 * Records many attempts in one statement and numbers each after the replays in between. If a lease
 * expired and another node made the attempt, `attempts` has changed and the row is left alone. A
 * failure of a webhook's old URL, which may come 15 seconds after it moved, does not count for it.
 */
export async function recordAttempts(
  tx: Tx,
  completed: readonly CompletedAttempt[],
): Promise<void> {
  await tx.run(RECORD_ATTEMPTS, [
    texts(completed, ({ account_id }) => account_id),
    texts(completed, ({ webhook_id }) => webhook_id),
    texts(completed, ({ event_id }) => event_id),
    ints(completed, ({ attempts }) => attempts),
    texts(completed, ({ id }) => id),
    texts(completed, ({ event_type }) => event_type),
    texts(completed, ({ url }) => url),
    texts(completed, ({ status }) => status),
    ints(completed, ({ response_status }) => response_status),
    texts(completed, ({ response_excerpt }) => response_excerpt),
    texts(completed, ({ error }) => error),
    ints(completed, ({ duration_ms }) => duration_ms),
    timestamps(completed, ({ created_at }) => created_at),
    timestamps(completed, ({ next_attempt_at }) => next_attempt_at),
  ])
}

const RECORD_ATTEMPTS = `
  with made as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[],
                         $7::text[], $8::text[], $9::int[], $10::text[], $11::text[], $12::int[],
                         $13::timestamptz[], $14::timestamptz[])
      as m (account_id, webhook_id, event_id, attempts, id, event_type, url, status,
            response_status, response_excerpt, error, duration_ms, created_at, next_attempt_at)),
  done as (
    delete from deliveries d using made m
     where d.event_id = m.event_id and d.webhook_id = m.webhook_id
       and m.next_attempt_at is null
 returning d.event_id, d.webhook_id, d.attempts + d.replays + 1 as number),
  again as (
    update deliveries d set attempts = d.attempts + 1, next_attempt_at = m.next_attempt_at
      from made m
     where d.event_id = m.event_id and d.webhook_id = m.webhook_id
       and m.next_attempt_at is not null and d.attempts = m.attempts
 returning d.event_id, d.webhook_id, d.attempts + d.replays as number),
  kept as (
    insert into delivery_attempts
      (account_id, webhook_id, event_id, attempt, id, event_type, trigger, url, status,
       response_status, response_excerpt, error, duration_ms, created_at)
    select m.account_id, m.webhook_id, m.event_id,
           coalesce(
             c.number,
             (select max(a.attempt) + 1 from delivery_attempts a
               where a.event_id = m.event_id and a.webhook_id = m.webhook_id),
             1),
           m.id, m.event_type, 'automatic', m.url, m.status, m.response_status,
           m.response_excerpt, m.error, m.duration_ms, m.created_at
      from made m
      left join (select * from done union all select * from again) c
        on c.event_id = m.event_id and c.webhook_id = m.webhook_id
        on conflict (event_id, webhook_id, attempt) do nothing)
  update webhooks w
     set last_delivery_at = greatest(w.last_delivery_at, s.delivered_at),
         failing_since = case when s.delivered_at is null
                              then coalesce(w.failing_since,
                                            case when w.url = any(s.failed_urls)
                                                 then s.failed_at end) end
    from (select account_id, webhook_id,
                 max(created_at) filter (where status = 'succeeded') as delivered_at,
                 min(created_at) filter (where status = 'failed') as failed_at,
                 array_agg(url) filter (where status = 'failed') as failed_urls
            from made group by account_id, webhook_id) s
   where w.account_id = s.account_id and w.id = s.webhook_id`

/** Makes leased rows due again, unless another node has made an attempt since. */
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
