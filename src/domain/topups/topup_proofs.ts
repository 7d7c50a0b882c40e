import {
  changedRows,
  eventCount,
  idsBetween,
  type Proof,
  rowsIn,
  SLICES,
  usd,
} from '#domain/context/proof.ts'

const CREATED = eventCount(
  { account_id: 'u.account_id', id: 'u.id', at: 'u.created_at' },
  `'topup.created'`,
)

/** SQL: the events of a top-up since it was created, found among the account's top-up events. */
const eventsOf = (type: string) => `(
  select (select count(*) from events e
           where e.account_id = u.account_id and e.activity_type = 'topup'
             and e.resource_id = u.id and e.type = '${type}' and e.id > made.after)
    from ${idsBetween('evt', `u.created_at - interval '10 seconds'`)} made)`

const TRANSFERS = `join lateral (
  select count(*) filter (where t.held_reason is null) as credited,
         count(*) filter (where t.state = 'released') as released,
         count(*) filter (where t.held_reason is not null) as held,
         coalesce(sum(t.value_micros), 0) as final,
         coalesce(sum(t.value_micros) filter (where t.state in ('credited', 'released')), 0)
           as credit
    from chain_transfers t where t.account_id = u.account_id and t.topup_id = u.id
) t on true`

/** Every deposit has its movement, its event and a legal state, and none is stuck. */
export const topup_proofs: readonly Proof[] = [
  {
    name: 'the amounts of a top-up are the sums of its transfers',
    scope: 'account',
    sql: `${SLICES}
      select u.account_id, u.id,
             format('The top-up shows %s received and %s credited; its transfers sum to %s and %s.',
                    ${usd('u.final_micros')}, ${usd('u.credited_micros')}, ${usd('t.final')},
                    ${usd('t.credit')}) as sentence
        from slices s ${changedRows('topups', 'u')} ${TRANSFERS}
       where u.final_micros <> t.final or u.credited_micros <> t.credit`,
  },
  {
    name: 'each top-up has one event of its creation, its expiry and each deposit',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The top-up has %s events of its creation, %s of %s expiries, %s of %s credits '
                    || 'and %s of %s holds.', created, expired, expiries, confirmed, credited,
                    failed, held) as sentence
        from (select u.account_id, u.id, ${CREATED} as created,
                     ${eventsOf('topup.expired')} as expired,
                     (coalesce(u.closed_at = u.expires_at, false))::integer as expiries,
                     ${eventsOf('topup.confirmed')} as confirmed,
                     ${eventsOf('topup.error')} as failed,
                     t.credited, t.released, t.held
                from slices s ${changedRows('topups', 'u')} ${TRANSFERS}
               where u.created_at >= s.events_since) u
       where created <> 1 or expired <> expiries or failed < held
          or confirmed not between credited and credited + released`,
  },
  {
    name: 'each top-up event has its top-up',
    scope: 'slice',
    sql: `${SLICES}
      select e.account_id, e.resource_id as id,
             format('There is an event %s, but no such top-up.', e.type) as sentence
        from slices s ${rowsIn('events', 'evt', 'e')}
       where e.resource_type = 'topup'
         and not exists (select from topups u where u.account_id = e.account_id
                            and u.id = e.resource_id)`,
  },
  {
    name: 'a top-up has the status that its transfers and timestamps lead to',
    scope: 'account',
    sql: `${SLICES}
      select u.account_id, u.id,
             format('The top-up is %s (%s at rest), with %s credited and %s pending.', u.status,
                    u.resting_status, ${usd('u.credited_micros')}, ${usd('u.pending_micros')})
               as sentence
        from slices s ${changedRows('topups', 'u')} ${TRANSFERS}
       where (u.status <> 'confirming' and u.status <> u.resting_status)
          or (u.resting_status = 'completed'
              and (u.completed_at is null or t.credited + t.released = 0))
          or (u.resting_status = 'error' and t.held = 0)
          or (u.resting_status = 'cancelled' and u.closed_at is null)
          or (u.resting_status = 'awaiting'
              and (t.credited + t.held > 0 or u.closed_at is not null))
          or u.updated_at < u.created_at - interval '1 minute'`,
  },
  {
    name: 'each final transfer has exactly one movement of its amount',
    scope: 'account',
    sql: `${SLICES}
      select t.account_id, t.topup_id as id,
             format('The transfer %s of %s has no such movement.', t.txid, ${usd('t.value_micros')})
               as sentence
        from slices s ${changedRows('topups', 'u')}
        join lateral (select * from chain_transfers r
                       where r.account_id = u.account_id and r.topup_id = u.id offset 0) t on true
       where t.movement_id >= 'bal_' || s.money_floor
         and not exists (select from movements m
                          where m.account_id = t.account_id and m.id = t.movement_id
                            and m.amount_micros = t.value_micros and m.reference_id = t.topup_id
                            and m.movement = case when t.held_reason is null then 'topup_settled'
                                                  else 'topup_suspended' end)`,
  },
  {
    name: 'each movement from a chain has exactly one final transfer',
    scope: 'slice',
    sql: `${SLICES}
      select m.account_id, m.id,
             format('%s was credited from a chain without a transfer.', ${usd('m.amount_micros')})
               as sentence
        from slices s ${rowsIn('movements', 'bal', 'm')}
       where m.movement in ('topup_settled', 'topup_suspended')
         and not exists (select from chain_transfers t where t.movement_id = m.id)`,
  },
  {
    name: 'each held deposit leaves suspense once, by the movement of its end',
    scope: 'account',
    sql: `${SLICES}
      select t.account_id, t.movement_id as id,
             format('The deposit is %s, without the movement of its end.', t.state) as sentence
        from slices s ${changedRows('topups', 'u')}
        join lateral (select * from chain_transfers r
                       where r.account_id = u.account_id and r.topup_id = u.id offset 0) t on true
       where t.state in ('released', 'refunded')
         and t.resolution_movement_id >= 'bal_' || s.money_floor
         and not exists (select from movements m
                          where m.account_id = t.account_id and m.id = t.resolution_movement_id
                            and m.amount_micros = t.value_micros
                            and m.movement = case t.state when 'released' then 'suspense_released'
                                                          else 'suspense_refunded' end)`,
  },
  {
    name: 'no top-up stays open for more than an hour after it expired',
    scope: 'program',
    sql: `select t.account_id, t.id,
                 format('The top-up expired at %s and is still awaiting.', t.expires_at) as sentence
            from topups t join chain_cursors c on c.chain = t.chain and c.fault is null
           where t.status = 'awaiting' and t.expires_at < $1::timestamptz - interval '1 hour'
             and c.scanned_at >= t.expires_at + interval '1 hour'
           order by t.expires_at limit 1000`,
  },
  {
    name: 'no deposit stays unconfirmed for more than a day',
    scope: 'program',
    sql: `select account_id, id,
                 format('The top-up has been confirming since %s.', updated_at) as sentence
            from topups
           where status = 'confirming' and updated_at < $1::timestamptz - interval '1 day'
           limit 1000`,
  },
  {
    name: 'no deposit is held for more than 30 days',
    scope: 'program',
    sql: `select account_id, movement_id as id,
                 format('The deposit of %s has been held since %s (%s).', ${usd('value_micros')},
                        created_at, held_reason) as sentence
            from chain_transfers
           where state = 'held' and held_reason <> 'below_minimum'
             and created_at < $1::timestamptz - interval '30 days'
           order by created_at limit 1000`,
  },
]
