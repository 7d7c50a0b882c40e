import type { Proof } from '#domain/context/proof.ts'

/** Find rows that foreign keys of `events` and `account_sequences` would refuse. */
export const event_proofs: readonly Proof[] = [
  {
    name: 'every event belongs to an account',
    scope: 'range',
    // One look-up per account, from each to the next: reading all events would take minutes.
    sql: `with recursive owners as (
            (select account_id from events where account_id > $1 and account_id <= $2
              order by account_id limit 1)
            union all
            select (select e.account_id from events e
                     where e.account_id > o.account_id and e.account_id <= $2
                     order by e.account_id limit 1)
              from owners o where o.account_id is not null
          )
          select account_id, account_id as id,
                 format('There are events of %s, but no such account.', account_id) as sentence
            from owners
           where account_id is not null
             and not exists (select from accounts a where a.id = owners.account_id)`,
  },
  {
    name: 'every account has a sequence row',
    scope: 'range',
    sql: `select a.id as account_id, a.id, 'The account has no sequence row.' as sentence
            from accounts a
           where a.id > $1 and a.id <= $2
             and not exists (select from account_sequences h where h.account_id = a.id)`,
  },
]
