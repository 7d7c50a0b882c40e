import { idsBetween, type Proof, rowsIn, rowsNear, SLICES, usd } from '#domain/context/proof.ts'
import { EVENTS_FLOOR, MONEY_FLOOR, OF_TRANSACTIONS } from './touched_transactions.ts'

/** SQL: the event of a transaction's creation. */
const CREATION_EVENT = `'transaction.' || case t.type
  when 'authorization' then 'authorized' when 'capture' then 'captured'
  when 'refund' then 'refunded' else 'declined' end`

/** The statuses that each type of transaction can reach. */
const STATUSES = `(values
  ('authorization', 'pending'), ('authorization', 'partially_captured'),
  ('authorization', 'captured'), ('authorization', 'reversed'), ('authorization', 'expired'),
  ('capture', 'settled'), ('refund', 'settled'), ('refund', 'reversed'), ('decline', 'declined'))`

/**
 * SQL: the events of a transaction between its creation and its last change. If there are not as
 * many as expected, later ones count too: the clock may have been advanced in between. The columns
 * have different collations, and without the conversion no index fits.
 */
const eventsOf = (types: string, expected: string) => {
  const count = (end: string) => `(
  select count(*) from events e
   where e.card_id = t.card_id collate "default" and e.resource_id = t.id and e.type in (${types})
     and e.id > near.after ${end})`
  const first = `t.created_at - interval '10 seconds'`
  return `(
  select case when ${count('and e.id < near.before')} = ${expected} then ${expected}
              else ${count('')} end
    from ${idsBetween('evt', first, `t.updated_at + interval '5 minutes'`)} near)`
}

/**
 * SQL: the rows of `wanted` that don't have as many events of these types as they expect, with the
 * `events` that they have. Most transactions end within minutes, so the events around all of them
 * are read once per card; only those not found there are looked up one by one, which on a busy card
 * reads thousands of events each. Rows and counts meet in a group, because the planner expects few
 * rows and would compare each row with each count.
 */
const withWrongEvents = (types: string) => `spans as (
    select card_id, min(created_at) - interval '10 seconds' as first,
           max(updated_at) + interval '5 minutes' as last
      from wanted where updated_at < created_at + interval '10 minutes' group by card_id),
  met as materialized (
    select id, max(expected) as expected, sum(events) as events
      from (select id, expected, 0 as events from wanted
            union all
            select e.resource_id, null, 1
              from spans
              join lateral (select * from events e
                             where e.card_id = spans.card_id collate "default"
                               and e.id > 'evt_' || id_time(spans.first)
                               and e.id < 'evt_' || id_time(spans.last) offset 0) e on true
             where e.type in (${types})) u
     group by id),
  suspects as materialized (select id from met where events <> expected),
  wrong as materialized (
    select t.*, ${eventsOf(types, 't.expected')} as events
      from wanted t where t.id in (select id from suspects))`

const REVERSAL = `'transaction.refund_reversed'`
const CHANGE_EVENTS = `'transaction.authorized', 'transaction.adjusted', 'transaction.reversed',
  'transaction.expired'`

/** SQL: an advice after the event has set a new amount, which is held again. */
const REOPENED = `exists (
  select from events a
   where a.card_id = e.card_id and a.id > e.id and a.resource_id = e.resource_id
     and a.type = 'transaction.adjusted')`

/** SQL: the captures, refunds and reversed refunds of an authorization: each changes it. */
const FOLLOWING = `(
  select count(*) + count(*) filter (where f.type = 'refund' and f.status = 'reversed')
    from transactions f
   where f.account_id = t.account_id and f.authorization_id = t.id
     and f.type in ('capture', 'refund'))`

/** Every change of a transaction has its event and its money, and both have their transaction. */
export const purchase_proofs: readonly Proof[] = [
  {
    name: 'each transaction has one event of its creation',
    scope: 'slice',
    sql: `${SLICES}, announced as materialized (
        select id, max(account_id) as account_id, sum(events) as events
          from (select t.account_id, t.id, ${CREATION_EVENT} as event, 0 as events
                  from slices s ${rowsIn('transactions', 'txn', 't')}
                union all
                select null, e.resource_id, e.type, 1
                  from slices s ${rowsNear('events', 'evt', 'e')}
                 where e.resource_type = 'transaction') u
         group by id, event),
      suspects as materialized (
        select t.*, a.events
          from announced a
          join lateral (select * from transactions
                         where account_id = a.account_id and id = a.id offset 0) t on true
         where case t.type when 'authorization' then a.events = 0 else a.events <> 1 end
           and t.id >= ${EVENTS_FLOOR})
      select t.account_id, t.id,
             format('The %s has %s events of its creation instead of 1.', t.type, t.events)
               as sentence
        from suspects t
       where ${eventsOf(CREATION_EVENT, '1')} <> 1`,
  },
  {
    name: 'each transaction event has its transaction, in a state that the event leads to',
    scope: 'slice',
    common: OF_TRANSACTIONS,
    sql: `select e.account_id, e.resource_id as id,
             case when t.id is null then format('There is an event %s, but no transaction.', e.type)
                  else format('There is an event %s; the %s is %s.', e.type, t.type, t.status)
             end as sentence
        from of_events e
        left join touched t on t.account_id = e.account_id and t.id = e.resource_id
       where t.id is null and e.resource_id >= ${MONEY_FLOOR}
          or not case e.type
               when 'transaction.authorized' then t.type = 'authorization'
               when 'transaction.adjusted' then t.type = 'authorization'
               when 'transaction.reversed' then t.type = 'authorization'
               when 'transaction.expired' then t.type = 'authorization'
                 and (t.open_micros = 0 or ${REOPENED})
               when 'transaction.captured' then t.type = 'capture'
               when 'transaction.refunded' then t.type = 'refund'
               when 'transaction.refund_reversed' then t.type = 'refund' and t.status = 'reversed'
               when 'transaction.declined' then t.type = 'decline'
               else false end`,
  },
  {
    name: 'each change of an authorization has one event, capture or refund',
    scope: 'slice',
    // The capture of a single-message purchase is made with it and changes nothing. Without the
    // offset, PostgreSQL would count what follows an authorization twice.
    common: OF_TRANSACTIONS,
    sql: `with wanted as materialized (
        select t.*, t.version - t.rest as expected
          from (select t.*, ${FOLLOWING} - t.is_single_message::integer as rest
                  from touched t where t.type = 'authorization'
                   and t.id >= ${EVENTS_FLOOR} offset 0) t),
      ${withWrongEvents(CHANGE_EVENTS)}
      select account_id, id,
             format('The authorization changed %s times, with %s events, captures and refunds.',
                    version, events + rest) as sentence
        from wrong where events <> expected`,
  },
  {
    name: 'each reversed refund has one event of its reversal',
    scope: 'slice',
    common: OF_TRANSACTIONS,
    sql: `with wanted as materialized (
        select t.*, (t.status = 'reversed')::integer as expected
          from touched t where t.type = 'refund' and t.id >= ${EVENTS_FLOOR}),
      ${withWrongEvents(REVERSAL)}
      select account_id, id,
             format('The refund is %s, with %s events of a reversal.', status, events) as sentence
        from wrong where events <> expected`,
  },
  {
    name: 'each transaction has a status that its type and amounts allow',
    scope: 'slice',
    common: OF_TRANSACTIONS,
    sql: `select t.account_id, t.id,
             format('The %s is %s, with %s open, %s captured and %s refunded.', t.type, t.status,
                    ${usd('t.open_micros')}, ${usd('t.captured_micros')},
                    ${usd('t.refunded_micros')}) as sentence
        from touched t
       where (t.type, t.status) not in ${STATUSES}
          or t.open_micros > 0 and t.status not in ('pending', 'partially_captured')
          or t.status = 'pending' and (t.captured_micros > 0
                                       or t.open_micros = 0 and t.amount_micros > 0)
          or t.status = 'expired' and t.captured_micros > 0
          or t.type = 'decline' and t.captured_micros + t.refunded_micros > 0
          or t.type = 'capture' and t.captured_micros <> t.amount_micros
          or t.updated_at < t.created_at - interval '1 minute'`,
  },
  {
    name: 'what an authorization captured is the sum of its captures',
    scope: 'slice',
    common: OF_TRANSACTIONS,
    sql: `select t.account_id, t.id,
             format('The authorization captured %s; its captures sum to %s.',
                    ${usd('t.captured_micros')}, ${usd('c.sum')}) as sentence
        from touched t
        cross join lateral (select coalesce(sum(amount_micros), 0) as sum from transactions c
                             where c.account_id = t.account_id and c.authorization_id = t.id
                               and c.type = 'capture') c
       where t.type = 'authorization' and t.captured_micros <> c.sum`,
  },
  {
    name: 'what was refunded is the sum of the refunds',
    scope: 'slice',
    common: OF_TRANSACTIONS,
    sql: `with refunded as (
        select t.account_id, t.id, t.type, t.refunded_micros, case t.type
          when 'authorization' then (
            select coalesce(sum(r.amount_micros), 0) from transactions r
             where r.account_id = t.account_id and r.authorization_id = t.id
               and r.type in ('capture', 'refund') and r.type = 'refund' and r.status = 'settled')
          else (
            select coalesce(sum(p.amount_micros), 0)
              from refund_parts p
              join lateral (select * from transactions r where r.account_id = p.account_id
                               and r.id = p.refund_id offset 0) r on true
             where p.account_id = t.account_id and p.capture_id = t.id and r.status = 'settled')
          end as refunds
          from touched t where t.type in ('authorization', 'capture'))
      select account_id, id,
             format('The %s shows %s refunded; its refunds sum to %s.', type,
                    ${usd('refunded_micros')}, ${usd('refunds')}) as sentence
        from refunded where refunded_micros <> refunds`,
  },
  {
    name: 'each capture and refund moves its amount to or from the network, once',
    scope: 'slice',
    // The capture of a single-message purchase has none of its own: the purchase moved the money.
    // Rows and sums meet in a group, because the planner expects few rows and would compare each
    // row with each sum.
    common: OF_TRANSACTIONS,
    sql: `with sums as materialized (
        select account_id, reference_id,
               sum(amount_micros) filter (where movement in
                 ('hold_captured', 'spend_taken', 'spend_owed')) as taken,
               sum(amount_micros) filter (where movement in
                 ('spend_refunded', 'refund_returned')) as given
          from moved group by 1, 2),
      parts as (
        select account_id, id, max(type) as type, max(authorization_id) as authorization_id,
               max(amount_micros) as amount_micros, max(taken) as taken, max(given) as given
          from (select account_id, id, type, authorization_id, amount_micros,
                       null::numeric as taken, null::numeric as given
                  from made where type in ('capture', 'refund')
                union all
                select account_id, reference_id, null, null, null, taken, given from sums) u
         group by 1, 2)
      select p.account_id, p.id,
             format('The %s is for %s; %s was moved.', p.type, ${usd('p.amount_micros')},
                    ${usd('coalesce(m.micros, 0)')}) as sentence
        from parts p
        cross join lateral (select case
            when p.type = 'refund' then p.given
            when p.taken is not null then p.taken
            else (select a.taken from sums a
                   where a.account_id = p.account_id and a.reference_id = p.authorization_id)
          end) m (micros)
       where p.type is not null and coalesce(m.micros, 0) <> p.amount_micros
         and p.id >= ${MONEY_FLOOR}`,
  },
  {
    name: 'each movement of a card payment has its transaction',
    scope: 'slice',
    common: OF_TRANSACTIONS,
    sql: `select m.account_id, m.id,
             format('%s moved %s for %s, which is %s.', m.movement, ${usd('m.amount_micros')},
                    m.reference_id, coalesce('a ' || t.type, 'missing')) as sentence
        from moved m
        left join touched t on t.account_id = m.account_id and t.id = m.reference_id
       where t.id is null and m.reference_id >= ${MONEY_FLOOR}
          or not case
               when m.movement in ('spend_held', 'hold_released', 'hold_returned')
                 then t.type = 'authorization'
               when m.movement = 'hold_captured' then t.type = 'capture'
               when m.movement in ('spend_refunded', 'refund_returned') then t.type = 'refund'
               when m.movement in ('spend_taken', 'spend_owed')
                 then t.type in ('capture', 'refund') or t.is_single_message
               else true end`,
  },
]
