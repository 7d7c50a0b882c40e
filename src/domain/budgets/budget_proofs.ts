import { changedRows, type Proof, SLICES, usd } from '#domain/context/proof.ts'

const CHARGES = `(
  select coalesce(sum(day_micros) filter (where day = u.day), 0) as day_micros,
         coalesce(sum(month_micros) filter (
           where date_trunc('month', day) = date_trunc('month', u.day)), 0) as month_micros,
         coalesce(sum(total_micros) filter (where created_at >= u.total_from), 0) as total_micros
    from budget_charges c
   where c.account_id = u.account_id and c.client_id = u.client_id)`

const amounts = (of: string) =>
  ['day', 'month', 'total'].map((period) => usd(`${of}.${period}_micros`)).join(', ')

/** Invariants between what apps used of their budgets, the books and the owner's approvals. */
export const budget_proofs: readonly Proof[] = [
  {
    name: 'the usage of each app is the sum of its charges',
    scope: 'account',
    sql: `${SLICES}
      select u.account_id, u.client_id as id,
             format('The usage of the day, month and total is %s, %s and %s; the charges sum to '
                    '%s, %s and %s.', ${amounts('u')}, ${amounts('c')}) as sentence
        from slices s
        join lateral (select * from budget_usage r where r.account_id = s.account_id offset 0) u
          on true
       cross join lateral ${CHARGES} c
       where (u.day_micros, u.month_micros, u.total_micros)
          <> (c.day_micros, c.month_micros, c.total_micros)`,
  },
  {
    name: 'each charge is the amount of its movement, and an unload gives back no more',
    scope: 'slice',
    sql: `${SLICES}
      select c.account_id, c.movement_id as id,
             format('%s is charged with %s, and the movement is %s.', c.movement_id,
                    ${usd('c.total_micros')},
                    coalesce(m.movement || ' of ' || ${usd('m.amount_micros')}, 'missing'))
               as sentence
        from slices s
        join lateral (
          select * from budget_charges r
           where r.account_id = s.account_id
             and r.movement_id > 'bal_' || s.after and r.movement_id <= 'bal_' || s.through
             and r.movement_id >= 'bal_' || s.money_floor
          offset 0) c on true
        left join movements m on m.account_id = c.account_id and m.id = c.movement_id
       where (m.movement in ('card_loaded', 'withdrawal_reserved')
                and c.total_micros = m.amount_micros
              or m.movement = 'card_unloaded'
                and c.total_micros between -m.amount_micros and 0) is not true`,
  },
  {
    name: 'an approval is used if and only if one movement of its amount names it',
    scope: 'account',
    sql: `${SLICES}
      select a.account_id, a.id,
             format('The approval of %s is %s, with charges of %s.', ${usd('a.amount_micros')},
                    a.status, coalesce(${usd('c.charged_micros')}, 'nothing')) as sentence
        from slices s ${changedRows('approvals', 'a')}
       cross join lateral (
         select sum(total_micros) as charged_micros, count(*) as count from budget_charges c
          where c.account_id = a.account_id and c.approval_id = a.id) c
       where case when a.status = 'used'
                  then c.count <> 1 or c.charged_micros <> a.amount_micros
                  else c.count > 0 end`,
  },
]
