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
  eventCount({ account_id: 'd.account_id', id: 'd.id', at: `d.${at}` }, `'${type}'`)

/** SQL: the sum of a dispute's movements since it was filed. */
const moved = (names: string) => `(
  select (select coalesce(sum(m.amount_micros), 0) from movements m
           where m.account_id = d.account_id and m.reference_id = d.id
             and m.movement in (${names}) and m.id > filed.after)
    from ${idsBetween('bal', `d.created_at - interval '10 seconds'`)} filed)`

const DAY = `interval '1 day'`

export const dispute_proofs: readonly Proof[] = [
  {
    name: 'each dispute has one event of its filing, and one of its end',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The dispute is %s, with %s events of its filing and %s of its end.', status,
                    opened, resolved) as sentence
        from (select d.account_id, d.id, d.status, ${eventsOf('created_at', 'dispute.opened')}
                       as opened,
                     case d.status when 'closed' then ${eventsOf('resolved_at', 'dispute.resolved')}
                                   else 0 end as resolved
                from slices s ${changedRows('disputes', 'd')}) d
       where opened <> 1 or resolved <> (status = 'closed')::integer`,
  },
  {
    name: 'each dispute event has its dispute, in a state that the event leads to',
    scope: 'slice',
    sql: `${SLICES}
      select e.account_id, e.resource_id as id,
             format('There is an event %s; the dispute is %s.', e.type,
                    coalesce(d.status, 'missing')) as sentence
        from slices s ${rowsIn('events', 'evt', 'e')}
        left join lateral (select * from disputes
                            where account_id = e.account_id and id = e.resource_id) d on true
       where e.resource_type = 'dispute'
         and (d.id is null
              or e.type = 'dispute.resolved' and d.status <> 'closed'
              or e.type = 'dispute.answered' and d.response_at is null
              or e.type = 'dispute.credit_reduced' and d.taken_back_micros = 0)`,
  },
  {
    name: 'a dispute moves its credit once, and takes back what it lost',
    scope: 'account',
    sql: `${SLICES}
      select account_id, id,
             format('The dispute of %s credited %s and took back %s of %s.',
                    ${usd('amount')}, ${usd('credited')}, ${usd('returned')}, ${usd('due')})
               as sentence
        from (select d.account_id, d.id, d.amount_micros as amount,
                     ${moved(`'dispute_credited'`)} as credited,
                     ${moved(`'dispute_reversed', 'dispute_owed'`)} as returned,
                     case d.outcome when 'lost' then d.amount_micros
                                    else d.taken_back_micros end as due
                from slices s ${changedRows('disputes', 'd')}
               where d.created_at >= s.money_since) d
       where credited <> amount or returned <> due`,
  },
  {
    name: 'each dispute has its transaction, unless that is archived',
    scope: 'account',
    sql: `${SLICES}
      select d.account_id, d.id, format('There is no transaction %s.', d.transaction_id) as sentence
        from slices s ${changedRows('disputes', 'd')}
       where d.transaction_id >= 'txn_' || s.money_floor
         and not exists (select from transactions t
                          where t.account_id = d.account_id and t.id = d.transaction_id)`,
  },
  {
    name: 'refunds and dispute credits of a capture never exceed it',
    scope: 'account',
    sql: `${SLICES}
      select t.account_id, t.id,
             format('%s was captured; %s was refunded and %s credited by disputes.',
                    ${usd('t.captured_micros')}, ${usd('t.refunded_micros')}, ${usd('c.credit')})
               as sentence
        from (select distinct d.account_id, d.transaction_id
                from slices s ${changedRows('disputes', 'd')}) d
        join lateral (select * from transactions
                       where account_id = d.account_id and id = d.transaction_id) t on true
        join lateral (select sum(amount_micros - taken_back_micros) as credit from disputes o
                       where o.account_id = d.account_id and o.transaction_id = d.transaction_id
                         and o.outcome is distinct from 'lost') c on true
       where t.refunded_micros + c.credit > t.captured_micros`,
  },
  {
    name: "a dispute's status has the timestamps of its path",
    scope: 'account',
    sql: `${SLICES}
      select d.account_id, d.id,
             format('The dispute is %s, but its timestamps say otherwise.', d.status) as sentence
        from slices s ${changedRows('disputes', 'd')}
       where (d.status = 'answered' and d.response_at is null)
          or (d.status = 'open' and d.response_at is not null)
          or d.resolved_at < d.created_at - interval '1 minute'
          or d.response_at < d.created_at - interval '1 minute'
          or (d.status <> 'closed' and d.closed_by is not null)`,
  },
  {
    name: 'no dispute is open for more than 120 days',
    scope: 'program',
    sql: `select account_id, id,
                 format('The dispute was filed %s days ago and is still %s.',
                        extract(day from $1 - created_at), status) as sentence
            from disputes
           where status <> 'closed' and created_at < $1::timestamptz - 120 * ${DAY}`,
  },
  {
    name: 'every evidence deadline has its notice within an hour',
    scope: 'program',
    sql: `select account_id, id, 'The deadline for evidence passed without a notice.' as sentence
            from disputes
           where status <> 'closed' and evidence_step <> 'passed'
             and evidence_due_at < $1::timestamptz - interval '1 hour'`,
  },
]
