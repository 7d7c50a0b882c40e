import {
  changedRows,
  eventCount,
  idsBetween,
  type Proof,
  rowsIn,
  SLICES,
  usd,
} from '#domain/context/proof.ts'

const eventsOf = (at: string, type: string) =>
  eventCount({ account_id: 'w.account_id', id: 'w.id', at }, `'${type}'`)

/** SQL: the amount that a withdrawal moved by a kind of movement since it was made. */
const moved = (name: string) => `(
  select coalesce((select sum(m.amount_micros) from movements m
                    where m.account_id = w.account_id and m.reference_id = w.id
                      and m.movement = '${name}' and m.id > made.after), 0)
    from ${idsBetween('bal', `w.created_at - interval '10 seconds'`)} made)`

/** A refund of a deposit is shown on its top-up and moves money out of suspense. */
const OF_ACCOUNTS = `${changedRows('withdrawals', 'w')} and w.refund_of is null`

export const withdrawal_proofs: readonly Proof[] = [
  {
    name: 'each withdrawal has one event of its broadcast and one of its end',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The withdrawal is %s, with %s events of its broadcast and %s of its end.',
                    status, sent, ended) as sentence
        from (select w.account_id, w.id, w.status, w.broadcasted_at,
                     case when w.broadcasted_at is null then 0
                          else ${eventsOf('w.broadcasted_at', 'withdrawal.broadcasted')}
                          end as sent,
                     case w.step
                       when 'completed' then ${eventsOf('w.completed_at', 'withdrawal.completed')}
                       when 'failed' then ${eventsOf('w.updated_at', 'withdrawal.failed')}
                       else 1 end as ended
                from slices s ${OF_ACCOUNTS}) w
       where sent <> (broadcasted_at is not null)::integer or ended <> 1`,
  },
  {
    name: 'each withdrawal event has its withdrawal, in a state that the event leads to',
    scope: 'slice',
    sql: `${SLICES}
      select e.account_id, e.resource_id as id,
             format('There is an event %s; the withdrawal is %s.', e.type,
                    coalesce(w.status, 'missing')) as sentence
        from slices s ${rowsIn('events', 'evt', 'e')}
        left join lateral (select * from withdrawals
                            where account_id = e.account_id and id = e.resource_id) w on true
       where e.resource_type = 'withdrawal'
         and (w.id is null
              or e.type = 'withdrawal.broadcasted' and w.broadcasted_at is null
              or e.type = 'withdrawal.completed' and w.status <> 'completed'
              or e.type = 'withdrawal.failed' and w.status <> 'failed')`,
  },
  {
    name: 'each withdrawal has the movements of its step, once and of its amount',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The withdrawal of %s is %s: %s was reserved, %s sent, %s taken as a fee and '
                    || '%s returned.', ${usd('amount_micros')}, step, ${usd('reserved')},
                    ${usd('sent')}, ${usd('fee')}, ${usd('returned')}) as sentence
        from (select w.*, ${moved('withdrawal_reserved')} as reserved,
                     ${moved('withdrawal_sent')} as sent, ${moved('withdrawal_fee_taken')} as fee,
                     ${moved('withdrawal_returned')} as returned
                from slices s ${OF_ACCOUNTS} and w.created_at >= s.money_since) w
       where reserved <> amount_micros
          or sent <> case step when 'completed' then amount_micros - fee_micros else 0 end
          or fee <> case step when 'completed' then fee_micros else 0 end
          or returned <> case step when 'failed' then amount_micros else 0 end`,
  },
  {
    name: 'a withdrawal has the status that its step and timestamps lead to',
    scope: 'account',
    sql: `${SLICES}
      select w.account_id, w.id,
             format('The withdrawal is %s at step %s, but its timestamps say otherwise.', w.status,
                    w.step) as sentence
        from slices s ${changedRows('withdrawals', 'w')}
       where (w.status, w.step) not in (('pending', 'review'), ('pending', 'reserved'),
               ('pending', 'signed'), ('broadcasted', 'review'), ('broadcasted', 'reserved'),
               ('broadcasted', 'signed'), ('completed', 'completed'), ('failed', 'failed'))
          or (w.step = 'completed') <> (w.completed_at is not null)
          or (w.status = 'broadcasted' and w.broadcasted_at is null)
          or (w.step in ('signed', 'completed') and w.txid is null)
          or w.updated_at < w.created_at - interval '1 minute'`,
  },
  {
    name: 'each signed withdrawal has its signed bytes stored',
    scope: 'account',
    sql: `${SLICES}
      select w.account_id, w.id,
             format('The withdrawal is %s, but the bytes of %s are not stored.', w.step, w.txid)
               as sentence
        from slices s ${changedRows('withdrawals', 'w')}
       where w.step in ('signed', 'completed')
         and not exists (select from withdrawal_transfers t
                          where t.account_id = w.account_id and t.withdrawal_id = w.id
                            and t.txid = w.txid)`,
  },
  {
    name: 'the payout purse of an account equals its open withdrawals',
    scope: 'account',
    sql: `${SLICES}
      select s.account_id, 'payout' as id,
             format('The payout purse has %s; open withdrawals sum to %s.', ${usd('p.reserved')},
                    ${usd('w.open')}) as sentence
        from slices s
        cross join lateral (select coalesce(sum(balance_micros), 0) as reserved from purses
                             where account_id = s.account_id and kind = 'payout') p
        cross join lateral (select coalesce(sum(amount_micros), 0) as open from withdrawals
                             where account_id = s.account_id and refund_of is null
                               and step not in ('completed', 'failed')) w
       where p.reserved <> w.open`,
  },
  {
    name: 'each deposit being refunded has one open withdrawal, and each such withdrawal a deposit',
    scope: 'account',
    sql: `${SLICES}
      select s.account_id, coalesce(t.movement_id, w.id) as id,
             case when w.id is null then 'The deposit is being refunded without a withdrawal.'
                  else 'The withdrawal refunds a deposit that is not being refunded.' end
               as sentence
        from slices s
        cross join lateral (
          (select * from (select r.movement_id, r.value_micros from chain_transfers r
             where r.account_id = s.account_id and r.state = 'refunding') t
           full join (select o.id, o.refund_of, o.amount_micros from withdrawals o
             where o.account_id = s.account_id and o.refund_of is not null
               and o.step not in ('completed', 'failed')) w
             on w.refund_of = t.movement_id and w.amount_micros = t.value_micros)
        ) b (movement_id, value_micros, id, refund_of, amount_micros)
        cross join lateral (select b.movement_id) t
        cross join lateral (select b.id) w
       where t.movement_id is null or w.id is null`,
  },
  {
    name: 'every withdrawal is advanced within an hour',
    scope: 'program',
    sql: `select w.account_id, w.id,
                 format('The withdrawal is %s and was due at %s.', w.step, w.next_try_at)
                   as sentence
            from withdrawals w
           where w.step in ('reserved', 'signed')
             and w.next_try_at < $1::timestamptz - interval '1 hour'
             and not (select is_on from kill_switches where rail = 'withdrawals')
             and not exists (select from accounts a
                              where a.id = w.account_id and a.status = 'suspended')
           limit 1000`,
  },
  {
    name: 'every withdrawal arrives or returns within a day',
    scope: 'program',
    sql: `select w.account_id, w.id,
                 format('The withdrawal was requested at %s and is %s.', w.created_at, w.step)
                   as sentence
            from withdrawals w
           where w.step in ('reserved', 'signed')
             and w.updated_at < $1::timestamptz - interval '1 day'
             and w.created_at < $1::timestamptz - interval '1 day'
             and not (select is_on from kill_switches where rail = 'withdrawals')
             and not exists (select from accounts a
                              where a.id = w.account_id and a.status = 'suspended')
           limit 1000`,
  },
  {
    name: 'no withdrawal waits for a review for more than 7 days',
    scope: 'program',
    sql: `select w.account_id, w.id,
                 format('The withdrawal has waited for a review since %s.', w.created_at)
                   as sentence
            from withdrawals w
           where w.step = 'review' and w.id < 'wd_' || id_time($1::timestamptz - interval '7 days')
           order by w.id limit 1000`,
  },
]
