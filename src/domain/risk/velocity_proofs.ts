import { idsBetween, type Proof, SLICES } from '#domain/context/proof.ts'

const DAY_START = `v.day::timestamp at time zone 'UTC'`

/** SQL: the rows of a table that an account made on the day of a counter. */
const madeOn = (table: string, prefix: string, condition = '') => `(
  select (select count(*) from ${table} m
           where m.account_id = s.account_id ${condition}
             and m.id >= day.after and m.id < day.before)
    from ${idsBetween(prefix, DAY_START, `${DAY_START} + interval '1 day'`)} day)`

/**
 * A counter may be lower than what was made: a limit may have been set during the day, and
 * replaced cards don't count.
 */
export const velocity_proofs: readonly Proof[] = [
  {
    name: 'no daily counter exceeds what the account made that day',
    scope: 'account',
    sql: `${SLICES}
      select account_id, operation as id,
             format('%s is counted %s times on %s; %s were made.', operation, count, day, made)
               as sentence
        from (select s.account_id, v.operation, v.count, v.day, case v.operation
                when 'create_topup' then ${madeOn('topups', 'tup')}
                when 'issue_card' then ${madeOn('cards', 'card')}
                when 'withdraw' then ${madeOn('withdrawals', 'wd', 'and m.refund_of is null')}
                else v.count end as made
                from slices s
                join lateral (select * from velocities r
                               where r.subject = s.account_id
                                 and r.operation in ('create_topup', 'issue_card', 'withdraw')
                                 and r.day >= (s.now at time zone 'UTC')::date - 2 offset 0) v
                  on true) counters
       where count > made`,
  },
]
